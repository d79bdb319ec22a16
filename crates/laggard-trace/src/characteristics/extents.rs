//! Sequential access streams: what is contiguous of all the bytes that were asked for of an object (paper 004,
//! section 3), the unique bytes, and how often bytes were asked for again.

use serde::Serialize;

use crate::hashing::WordMap;

/// Extents beyond this make neighbours with gaps join, so that memory is bounded.
const MOST_EXTENTS: usize = 1 << 19;
/// Ranges are gathered and joined in lots of this at least.
const LEAST_LOT: usize = 1024;

/// Ranges of bytes asked for of one object, joined where they touch.
#[derive(Clone, Debug, Default)]
pub struct Extents {
    /// Sorted, apart from each other.
    joined: Vec<(u64, u64)>,
    /// Not yet joined, but for the last, which grows as long as requests follow each other.
    lot: Vec<(u64, u64)>,
    /// Gaps of up to this many bytes are taken for none.
    gap: u64,
}

impl Extents {
    /// Joins ranges that are at most `gap` bytes apart.
    pub fn new(gap: u64) -> Extents {
        Extents { gap, ..Extents::default() }
    }

    /// Adds a range.
    pub fn add(&mut self, offset: u64, nbytes: u64) {
        let end = offset.saturating_add(nbytes);
        match self.lot.last_mut() {
            Some(last) if last.1 == offset => last.1 = end,
            _ => self.lot.push((offset, end)),
        }
        if self.lot.len() > LEAST_LOT.max(self.joined.len()) {
            self.join();
        }
    }

    fn join(&mut self) {
        self.joined.append(&mut self.lot);
        // Two sorted runs are what a stable sort is quick at.
        self.joined.sort();
        merge(&mut self.joined, self.gap);
    }

    /// How many extents are held.
    fn held(&self) -> usize {
        self.joined.len() + self.lot.len()
    }

    fn widen(&mut self) {
        self.gap = (self.gap * 2).max(4096);
        self.join();
    }

    /// The streams, sorted.
    pub fn streams(mut self) -> Vec<(u64, u64)> {
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
pub struct Footprint {
    objects: WordMap<u32, Extents>,
    gap: u64,
    bytes: u64,
    requests: u64,
    since_check: u32,
    is_coarse: bool,
}

/// Streams of a layer, as told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Streams {
    /// How many there are.
    pub count: u64,
    /// How many of them are at least sixteen mean requests long.
    pub long: u64,
    /// Their mean length in bytes.
    pub avg_bytes: f64,
    /// The longest.
    pub max_bytes: u64,
    /// Bytes asked for at least once.
    pub unique_bytes: u64,
    /// Bytes asked for divided by unique bytes.
    pub redundancy: f64,
    /// Whether gaps had to be taken for none to bound memory.
    pub is_coarse: bool,
}

impl Footprint {
    /// Joins ranges that are at most `gap` bytes apart.
    pub fn new(gap: u64) -> Footprint {
        Footprint { gap, ..Footprint::default() }
    }

    /// Adds a range of an object.
    pub fn add(&mut self, object: u32, offset: u64, nbytes: u64) {
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
        while self.objects.values().map(Extents::held).sum::<usize>() > MOST_EXTENTS {
            self.is_coarse = true;
            self.objects.values_mut().for_each(Extents::widen);
            if self.objects.values().all(|object| object.gap > u64::MAX / 4) {
                return;
            }
        }
    }

    /// The streams.
    pub fn streams(self) -> Streams {
        let mut told = Streams { is_coarse: self.is_coarse, ..Streams::default() };
        let long_bytes = 16.0 * self.bytes as f64 / (self.requests as f64).max(1.0);
        for (from, to) in self.objects.into_values().flat_map(Extents::streams) {
            told.count += 1;
            told.long += u64::from((to - from) as f64 >= long_bytes);
            told.unique_bytes = told.unique_bytes.saturating_add(to - from);
            told.max_bytes = told.max_bytes.max(to - from);
        }
        told.avg_bytes = told.unique_bytes as f64 / (told.count as f64).max(1.0);
        told.redundancy = self.bytes as f64 / (told.unique_bytes as f64).max(1.0);
        told
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;

    /// The plain twin: every byte by itself.
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
    fn eight_interleaved_streams_that_touch_are_one() {
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
        fn streams_are_those_of_the_bytes(ranges in proptest::collection::vec((0..2000u64, 1..30u64), 0..600)) {
            let mut extents = Extents::new(0);
            ranges.iter().for_each(|(offset, n)| extents.add(*offset, *n));
            prop_assert_eq!(extents.streams(), naive(&ranges));
        }
    }
}
