//! Retention: the oldest sealed segments are removed by age and size; live tails never are.

use laggard_core::model::time::{Span, Timestamp};

use crate::dataset::Dataset;
use crate::dataset::segment::Segment;
use crate::error::StoreError;
use crate::format::cycle::next_cycle;
use crate::format::file_name::State;

/// Limits of a dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Segments whose samples are all older are removed.
    pub max_age: Option<Span>,
    /// While all files together are larger, the oldest are removed.
    pub max_bytes: Option<u64>,
}

impl Dataset {
    /// Removes sealed segments that are too old or exceed the size; returns them.
    pub fn retain(&self, retention: Retention, now: Timestamp) -> Result<Vec<Segment>, StoreError> {
        let mut segments = self.segments()?.segments;
        segments.sort_by(|a, b| (a.start, &a.host, a.table.name).cmp(&(b.start, &b.host, b.table.name)));
        let mut bytes: u64 = segments.iter().map(|segment| segment.bytes).sum();
        let mut removed = Vec::new();
        for segment in segments.into_iter().filter(|segment| segment.state == State::Sealed) {
            if !retention.drops(&segment, bytes, now) {
                continue;
            }
            self.location.remove(&segment.name().to_string())?;
            bytes -= segment.bytes;
            removed.push(segment);
        }
        Ok(removed)
    }
}

impl Retention {
    fn drops(&self, segment: &Segment, bytes: u64, now: Timestamp) -> bool {
        let is_old = self.max_age.is_some_and(|age| next_cycle(segment.start) + age <= now);
        is_old || self.max_bytes.is_some_and(|most| bytes > most)
    }
}
