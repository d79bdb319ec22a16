//! What a lab shall be: the lab file, and the hosts that follow from it.
//! In: TOML. Out: a [`file::LabFile`] and its [`host::HostPlan`]s. Always: names and addresses are unique, and every
//! disk can be.

pub mod file;
pub mod host;
