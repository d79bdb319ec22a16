//! A layer's concurrency over time, in a bounded number of equal bins: when they are used up, neighbours are joined.

const MAX_BINS: usize = 512;
/// The initial width of a bin: a microsecond.
const MIN_WIDTH_NS: u64 = 1 << 10;

#[derive(Clone, Debug, Default)]
pub(super) struct SeriesCollector {
    from_ns: u64,
    width_ns: u64,
    /// Level times nanoseconds, by bin.
    areas: Vec<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct ConcurrencySeries {
    pub from_ns: u64,
    /// The width of a bin.
    pub width_ns: u64,
    /// The mean concurrency in each bin.
    pub levels: Vec<f64>,
}

impl SeriesCollector {
    pub(super) fn beginning(from_ns: u64) -> SeriesCollector {
        SeriesCollector { from_ns, width_ns: MIN_WIDTH_NS, areas: Vec::new() }
    }

    /// The level from one instant to another.
    pub(super) fn add(&mut self, level: u32, begin_ns: u64, end_ns: u64) {
        let (mut begin, end) = (begin_ns.saturating_sub(self.from_ns), end_ns.saturating_sub(self.from_ns));
        if level == 0 || begin >= end || self.width_ns == 0 {
            return;
        }
        while (end - 1) / self.width_ns >= MAX_BINS as u64 {
            self.join();
        }
        let last = ((end - 1) / self.width_ns) as usize;
        if last >= self.areas.len() {
            self.areas.resize(last + 1, 0.0);
        }
        while begin < end {
            let bin = begin / self.width_ns;
            let stop = end.min((bin + 1) * self.width_ns);
            self.areas[bin as usize] += f64::from(level) * (stop - begin) as f64;
            begin = stop;
        }
    }

    fn join(&mut self) {
        self.areas = self.areas.chunks(2).map(|pair| pair.iter().sum()).collect();
        self.width_ns = self.width_ns.saturating_mul(2);
    }

    pub(super) fn series(mut self, to_ns: u64) -> ConcurrencySeries {
        let width = self.width_ns.max(1);
        let length = to_ns.saturating_sub(self.from_ns);
        self.areas.resize((length.div_ceil(width) as usize).min(MAX_BINS), 0.0);
        let levels = self.areas.iter().map(|area| area / width as f64).collect();
        ConcurrencySeries { from_ns: self.from_ns, width_ns: width, levels }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    proptest! {
        #[test]
        fn no_area_is_lost(parts in proptest::collection::vec((1..5u32, 0..5_000_000u64), 1..50)) {
            let (mut series, mut now, mut area) = (SeriesCollector::beginning(77), 77, 0.0);
            for (level, length) in parts {
                series.add(level, now, now + length);
                now += length;
                area += f64::from(level) * length as f64;
            }
            let series = series.series(now);
            let sum: f64 = series.levels.iter().map(|level| level * series.width_ns as f64).sum();
            prop_assert!((sum - area).abs() <= area * 1e-9 + 1e-6, "{sum} {area}");
            prop_assert!(series.levels.len() <= MAX_BINS);
        }
    }
}
