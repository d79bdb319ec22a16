//! Sequential access streams: the contiguous ranges among all bytes requested of an object (paper 004, section 3), the
//! unique bytes, and redundancy.

use serde::Serialize;

use crate::hashing::WordMap;

/// With more extents, neighbours with small gaps are joined, to bound memory.
const MAX_EXTENTS: usize = 1 << 19;
/// Ranges are joined in batches of at least this size.
const MIN_BATCH: usize = 1024;

/// Byte ranges of one object, joined where they touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Extents {
    /// Sorted and disjoint.
    joined: Vec<(u64, u64)>,
    /// Not yet joined; the last one grows while requests are contiguous.
    batch: Vec<(u64, u64)>,
    /// Gaps of up to this many bytes are ignored.
    gap: u64,
}

impl Extents {
    /// Joins ranges that are at most `gap` bytes apart.
    pub(super) fn new(gap: u64) -> Extents {
        Extents { gap, ..Extents::default() }
    }

    pub(super) fn add(&mut self, offset: u64, nbytes: u64) {
        let end = offset.saturating_add(nbytes);
        match self.batch.last_mut() {
            Some(last) if last.1 == offset => last.1 = end,
            _ => self.batch.push((offset, end)),
        }
        if self.batch.len() > MIN_BATCH.max(self.joined.len()) {
            self.join();
        }
    }

    fn join(&mut self) {
        self.joined.append(&mut self.batch);
        // A stable sort is fast on two sorted runs.
        self.joined.sort();
        merge(&mut self.joined, self.gap);
    }

    fn len(&self) -> usize {
        self.joined.len() + self.batch.len()
    }

    fn widen(&mut self) {
        self.gap = (self.gap * 2).max(4096);
        self.join();
    }

    /// Sorted.
    pub(super) fn streams(mut self) -> Vec<(u64, u64)> {
        self.join();
        self.joined
    }
}

fn merge(extents: &mut Vec<(u64, u64)>, gap: u64) {
    extents.dedup_by(|next, last| {
        let touches = next.0 <= last.1.saturating_add(gap);
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
}

/// The extents of every object of a layer.
#[derive(Clone, Debug, Default)]
pub(super) struct Footprint {
    objects: WordMap<u32, Extents>,
    gap: u64,
    bytes: u64,
    requests: u64,
    since_check: u32,
    is_coarse: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Streams {
    pub count: u64,
    /// Streams of at least sixteen mean requests.
    pub long: u64,
    pub avg_bytes: f64,
    pub max_bytes: u64,
    pub unique_bytes: u64,
    /// Requested bytes divided by unique bytes.
    pub redundancy: f64,
    /// Gaps were ignored to bound memory.
    pub is_coarse: bool,
}

impl Footprint {
    /// Joins ranges that are at most `gap` bytes apart.
    pub(super) fn new(gap: u64) -> Footprint {
        Footprint { gap, ..Footprint::default() }
    }

    pub(super) fn add(&mut self, object: u32, offset: u64, nbytes: u64) {
        let gap = self.gap;
        self.objects.entry(object).or_insert_with(|| Extents::new(gap)).add(offset, nbytes);
        self.bytes = self.bytes.saturating_add(nbytes);
        self.requests += 1;
        self.since_check += 1;
        if self.since_check == 1 << 16 {
            self.since_check = 0;
            self.bound();
        }
    }

    fn bound(&mut self) {
        while self.objects.values().map(Extents::len).sum::<usize>() > MAX_EXTENTS {
            self.is_coarse = true;
            self.objects.values_mut().for_each(Extents::widen);
            if self.objects.values().all(|object| object.gap > u64::MAX / 4) {
                return;
            }
        }
    }

    pub(super) fn streams(self) -> Streams {
        let mut streams = Streams { is_coarse: self.is_coarse, ..Streams::default() };
        let long_bytes = 16.0 * self.bytes as f64 / (self.requests as f64).max(1.0);
        for (from, to) in self.objects.into_values().flat_map(Extents::streams) {
            streams.count += 1;
            streams.long += u64::from((to - from) as f64 >= long_bytes);
            streams.unique_bytes = streams.unique_bytes.saturating_add(to - from);
            streams.max_bytes = streams.max_bytes.max(to - from);
        }
        streams.avg_bytes = streams.unique_bytes as f64 / (streams.count as f64).max(1.0);
        streams.redundancy = self.bytes as f64 / (streams.unique_bytes as f64).max(1.0);
        streams
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    /// The reference implementation: every byte on its own.
    fn naive(ranges: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut bytes: Vec<u64> = ranges.iter().flat_map(|(offset, n)| *offset..offset + n).collect();
        bytes.sort_unstable();
        bytes.dedup();
        let mut streams: Vec<(u64, u64)> = Vec::new();
        for byte in bytes {
            match streams.last_mut() {
                Some(last) if last.1 == byte => last.1 += 1,
                _ => streams.push((byte, byte + 1)),
            }
        }
        streams
    }

    #[test]
    fn eight_adjacent_interleaved_streams_are_one() {
        let mut footprint = Footprint::new(0);
        for step in 0..100u64 {
            for stream in 0..8u64 {
                footprint.add(1, (stream * 100 + step) * 65_536, 65_536);
            }
        }
        let streams = footprint.streams();
        assert_eq!((streams.count, streams.max_bytes), (1, 800 * 65_536));
        assert_eq!(streams.redundancy, 1.0);
    }

    #[test]
    fn reading_twice_is_redundant() {
        let mut footprint = Footprint::new(0);
        [0, 100, 0, 100].iter().for_each(|offset| footprint.add(1, *offset, 50));
        let streams = footprint.streams();
        assert_eq!((streams.count, streams.unique_bytes, streams.redundancy), (2, 100, 2.0));
    }

    proptest! {
        #[test]
        fn streams_match_the_reference_implementation(ranges in proptest::collection::vec((0..2000u64, 1..30u64), 0..600)) {
            let mut extents = Extents::new(0);
            ranges.iter().for_each(|(offset, n)| extents.add(*offset, *n));
            prop_assert_eq!(extents.streams(), naive(&ranges));
        }
    }
}
