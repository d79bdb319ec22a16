//! A layer's concurrency over time, in a bounded number of equal bins: when they are used up, neighbours join.

/// Bins at most.
pub const BINS: usize = 512;

/// A level over time.
#[derive(Clone, Debug, Default)]
pub struct Series {
    from_ns: u64,
    width_ns: u64,
    /// Level times nanoseconds.
    areas: Vec<f64>,
}

/// A level over time, as told.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Course {
    /// Where the first bin begins.
    pub from_ns: u64,
    /// How long a bin is.
    pub width_ns: u64,
    /// The mean level in each bin.
    pub levels: Vec<f64>,
}

/// Bins begin this narrow: a microsecond.
const NARROWEST_NS: u64 = 1 << 10;

impl Series {
    /// Begins at an instant.
    pub fn beginning(from_ns: u64) -> Series {
        Series { from_ns, width_ns: NARROWEST_NS, areas: Vec::new() }
    }

    /// The level from one instant to another.
    pub fn add(&mut self, level: u32, begin_ns: u64, end_ns: u64) {
        let (mut begin, end) = (begin_ns.saturating_sub(self.from_ns), end_ns.saturating_sub(self.from_ns));
        if level == 0 || begin >= end || self.width_ns == 0 {
            return;
        }
        while (end - 1) / self.width_ns >= BINS as u64 {
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

    /// As told, up to an instant.
    pub fn course(mut self, to_ns: u64) -> Course {
        let width = self.width_ns.max(1);
        let length = to_ns.saturating_sub(self.from_ns);
        self.areas.resize((length.div_ceil(width) as usize).min(BINS), 0.0);
        let levels = self.areas.iter().map(|area| area / width as f64).collect();
        Course { from_ns: self.from_ns, width_ns: width, levels }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    proptest! {
        #[test]
        fn no_area_is_lost(parts in proptest::collection::vec((1..5u32, 0..5_000_000u64), 1..50)) {
            let (mut series, mut now, mut area) = (Series::beginning(77), 77, 0.0);
            for (level, length) in parts {
                series.add(level, now, now + length);
                now += length;
                area += f64::from(level) * length as f64;
            }
            let course = series.course(now);
            let sum: f64 = course.levels.iter().map(|level| level * course.width_ns as f64).sum();
            prop_assert!((sum - area).abs() <= area * 1e-9 + 1e-6, "{sum} {area}");
            prop_assert!(course.levels.len() <= BINS);
        }
    }
}
