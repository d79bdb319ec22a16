//! Attributes of a request.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u32);

impl Flags {
    pub const NONE: Flags = Flags(0);
    /// Bypasses the page cache.
    pub const DIRECT: Flags = Flags(1);
    /// The caller waits until the data is durable.
    pub const SYNC: Flags = Flags(1 << 1);
    /// Readahead.
    pub const RA: Flags = Flags(1 << 2);
    /// File system metadata.
    pub const META: Flags = Flags(1 << 3);
    /// Bypasses the device's cache (forced unit access).
    pub const FUA: Flags = Flags(1 << 4);
    /// Written back by the kernel asynchronously.
    pub const WRITEBACK: Flags = Flags(1 << 5);
    /// Merged into another request of its layer.
    pub const MERGED: Flags = Flags(1 << 6);
    /// Split from or into other requests of its layer.
    pub const SPLIT: Flags = Flags(1 << 7);
    /// Requeued at least once.
    pub const REQUEUED: Flags = Flags(1 << 8);
    /// Completed without the layers below.
    pub const CACHED: Flags = Flags(1 << 9);
    /// The timestamp is copied from an event of the neighbouring layer.
    pub const SYNTHETIC: Flags = Flags(1 << 10);
    /// Timestamps are coarser than the latencies.
    pub const LOWRES: Flags = Flags(1 << 11);
    /// Object, offset or process are inferred, not observed.
    pub const INFERRED: Flags = Flags(1 << 12);
    /// Its begin or end is not in the trace.
    pub const PARTIAL: Flags = Flags(1 << 13);
    /// Timestamps out of order: no latency is computed.
    pub const DISORDERED: Flags = Flags(1 << 14);

    /// Lowest bit first.
    const NAMES: [&'static str; 15] = [
        "DIRECT",
        "SYNC",
        "RA",
        "META",
        "FUA",
        "WRITEBACK",
        "MERGED",
        "SPLIT",
        "REQUEUED",
        "CACHED",
        "SYNTHETIC",
        "LOWRES",
        "INFERRED",
        "PARTIAL",
        "DISORDERED",
    ];

    /// Unknown bits are kept.
    pub const fn from_bits(bits: u32) -> Flags {
        Flags(bits)
    }

    pub const fn bits(self) -> u32 {
        self.0
    }

    /// True if all of `others` are set.
    pub const fn has(self, others: Flags) -> bool {
        self.0 & others.0 == others.0
    }

    pub const fn without(self, others: Flags) -> Flags {
        Flags(self.0 & !others.0)
    }

    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Flags::NAMES
            .into_iter()
            .enumerate()
            .filter(move |(bit, _)| self.0 >> bit & 1 == 1)
            .map(|(_, name)| name)
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, others: Flags) -> Flags {
        Flags(self.0 | others.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, others: Flags) {
        self.0 |= others.0;
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
