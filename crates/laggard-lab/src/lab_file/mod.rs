//! The lab file and the hosts it describes.
//! In: TOML. Out: a [`contents::LabFile`] and its [`host::HostPlan`]s. Always: names and addresses are unique, and disk models
//! are valid.

pub mod contents;
pub mod host;
