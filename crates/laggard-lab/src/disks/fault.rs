//! The fault of a virtual disk.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// The fault of a disk. The default is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DiskFault {
    /// The share of the arm's time taken by a load that the operating system does not see: 0 to 0.99.
    pub neighbour: f64,
    /// Extra time of every read.
    pub slow_reads_us: u64,
    /// Extra time of every write.
    pub slow_writes_us: u64,
    pub stalls: Option<Stalls>,
    /// Sectors (of 512 bytes) that cannot be read or written, first and last.
    pub bad_sectors: Vec<(u64, u64)>,
    /// Every request fails immediately, as with an unplugged cable.
    pub disconnected: bool,
}

/// Periods in which no request is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// From the end of one to the start of the next, on average.
    pub every_ms: u64,
    pub lasting_ms: u64,
}

const SECTOR: u64 = 512;

impl DiskFault {
    /// Every sector is bad.
    pub fn all_bad() -> DiskFault {
        DiskFault { bad_sectors: vec![(0, u64::MAX)], ..DiskFault::default() }
    }

    /// True if a bad sector is among these bytes.
    pub fn is_bad(&self, offset: u64, bytes: u64) -> bool {
        let touched: RangeInclusive<u64> = offset / SECTOR..=(offset + bytes.max(1) - 1) / SECTOR;
        self.bad_sectors.iter().any(|(first, last)| first <= touched.end() && touched.start() <= last)
    }

    /// The same, with at least a hundredth of the arm's time left, and finite waits.
    pub fn within_bounds(mut self) -> DiskFault {
        let share = if self.neighbour.is_nan() { 0.0 } else { self.neighbour };
        self.neighbour = share.clamp(0.0, 0.99);
        self.slow_reads_us = self.slow_reads_us.min(LONGEST_US);
        self.slow_writes_us = self.slow_writes_us.min(LONGEST_US);
        self.stalls = self.stalls.map(|stalls| Stalls {
            every_ms: stalls.every_ms.max(1),
            lasting_ms: stalls.lasting_ms.min(LONGEST_US / 1000),
        });
        self
    }
}

/// A minute: longer than any driver waits.
const LONGEST_US: u64 = 60_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_touches_a_bad_sector_is_bad() {
        let fault = DiskFault { bad_sectors: vec![(10, 11)], ..DiskFault::default() };
        assert!(!fault.is_bad(0, 10 * 512));
        assert!(fault.is_bad(0, 10 * 512 + 1));
        assert!(fault.is_bad(11 * 512, 512));
        assert!(!fault.is_bad(12 * 512, 512));
        assert!(DiskFault::all_bad().is_bad(1 << 40, 0));
    }

    #[test]
    fn impossible_values_are_bounded() {
        let fault = DiskFault { neighbour: f64::NAN, slow_reads_us: u64::MAX, ..DiskFault::default() };
        let bounded = fault.within_bounds();
        assert_eq!((bounded.neighbour, bounded.slow_reads_us), (0.0, LONGEST_US));
    }
}
