//! Block events of blktrace: its binary records, and what blkparse prints of them.
//! In: bytes. Out: [`crate::tracepoints::Tracepoint`]s of the block layer, in the order of the file.

pub mod binary;
pub mod text;

mod action;

use crate::reading::ReadError;

/// What became of the records.
#[derive(Debug, Default)]
pub struct Tally {
    /// Records that were understood.
    pub read: u64,
    /// Records that were not.
    pub dropped: u64,
    /// The first of them.
    pub first_dropped: Option<ReadError>,
    /// Records that the tool says it lost.
    pub lost: u64,
}
