//! Retention: the oldest sealed segments are removed by age and size; live tails never are. Host facts go with the samples
//! that they describe.

use std::collections::BTreeMap;

use laggard_core::model::time::{Span, Timestamp};

use crate::dataset::Dataset;
use crate::dataset::segment::Segment;
use crate::error::StoreError;
use crate::format::cycle::next_cycle;
use crate::format::file_name::{FactsName, State};

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
        let mut oldest: BTreeMap<String, Timestamp> = BTreeMap::new();
        for segment in segments {
            if segment.state != State::Sealed || !retention.drops(&segment, bytes, now) {
                oldest.entry(segment.host).or_insert(segment.start);
                continue;
            }
            self.location.remove(&segment.name().to_string())?;
            bytes -= segment.bytes;
            removed.push(segment);
        }
        self.retain_facts(retention, &oldest, now)?;
        Ok(removed)
    }

    /// Removes files of facts that are too old, or that end before the oldest samples of their host.
    fn retain_facts(
        &self,
        retention: Retention,
        oldest: &BTreeMap<String, Timestamp>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        for name in self.location.list()?.iter().filter_map(|listed| FactsName::parse(&listed.name)) {
            let end = next_cycle(name.start);
            let is_old = retention.max_age.is_some_and(|age| end + age <= now);
            if is_old || oldest.get(&name.host).is_some_and(|oldest| end <= *oldest) {
                self.location.remove(&name.to_string())?;
            }
        }
        Ok(())
    }
}

impl Retention {
    fn drops(&self, segment: &Segment, bytes: u64, now: Timestamp) -> bool {
        let is_old = self.max_age.is_some_and(|age| next_cycle(segment.start) + age <= now);
        is_old || self.max_bytes.is_some_and(|most| bytes > most)
    }
}
