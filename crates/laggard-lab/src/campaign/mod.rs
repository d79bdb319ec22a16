//! Tests how a file system, its fsck and its logs handle faults (PFault, and beyond).
//! In: a [`Config`]. Out: a folder with a `result.json` for every case, and a [`report`] of all. Always: a case begins
//! with a healthy system and leaves nothing behind; what a killed one leaves can be removed ([`recovery`]); a finished
//! case is not run again.
//!
//! A campaign is a matrix of cases: node sets by faults, repeated, and a control without a fault. The
//! [`runner`](crate::runner) runs them.

mod campaign_schedule;
mod cases;
mod config;
pub mod dry_run;
pub mod recovery;
pub mod replay;
pub mod report;
pub mod run;
mod shrink;
#[cfg(test)]
pub(crate) mod testing;

pub use config::Config;
