//! Counts of the lines or records of one file.

use laggard_input::{Place, ReadError};

#[derive(Debug, Default)]
pub(crate) struct ReadCounts {
    pub(crate) read: u64,
    /// Events without relevance for I/O.
    pub(crate) ignored: u64,
    /// Lines or records that are not understood.
    pub(crate) dropped: u64,
    pub(crate) first_dropped: Option<ReadError>,
    /// Records that the tracing tool reports as lost.
    pub(crate) lost: u64,
}

impl ReadCounts {
    pub(crate) fn drop_one(&mut self, place: Place, expected: &str, found: &[u8]) {
        self.dropped += 1;
        self.first_dropped.get_or_insert_with(|| ReadError::quoting(place, expected, found));
    }
}
