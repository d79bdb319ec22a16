//! The lab file and the hosts it describes.
//! In: TOML. Out: a [`file::LabFile`] and its [`host::HostPlan`]s. Always: names and addresses are unique, and disk models
//! are valid.

pub mod file;
pub mod host;
