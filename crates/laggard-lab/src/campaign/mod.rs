//! Tests how a file system, its fsck and its logs handle faults (PFault, and beyond).
//! In: a [`Config`]. Out: a folder with a [`CellResult`](crate::runner::result::CellResult) for every case, and a
//! [`report`] of all. Always: a case begins with a healthy system and ends with nothing left behind; what a killed one
//! leaves can be removed ([`recovery`]); a finished case is not run again.

pub mod config;
pub mod plan;
pub mod recovery;
pub mod replay;
pub mod report;
pub mod run;
pub mod schedule;
mod shrink;
#[cfg(test)]
pub(crate) mod testing;

pub use crate::runner::steps::Stage;
pub use config::Config;
