//! What else is known of a request.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// A set of marks.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u32);

impl Flags {
    /// Nothing.
    pub const NONE: Flags = Flags(0);
    /// Past the page cache.
    pub const DIRECT: Flags = Flags(1);
    /// Somebody waits for it to be durable.
    pub const SYNC: Flags = Flags(1 << 1);
    /// Read ahead of need.
    pub const RA: Flags = Flags(1 << 2);
    /// Metadata of a file system.
    pub const META: Flags = Flags(1 << 3);
    /// Forced past the cache of the device.
    pub const FUA: Flags = Flags(1 << 4);
    /// Written back by the kernel in its own time.
    pub const WRITEBACK: Flags = Flags(1 << 5);
    /// Was merged into another request of its layer.
    pub const MERGED: Flags = Flags(1 << 6);
    /// Was cut from, or was cut into, other requests of its layer.
    pub const SPLIT: Flags = Flags(1 << 7);
    /// Went back to the queue at least once.
    pub const REQUEUED: Flags = Flags(1 << 8);
    /// Was answered without the layers below.
    pub const CACHED: Flags = Flags(1 << 9);
    /// The time is that of the neighbour layer's event.
    pub const SYNTHETIC: Flags = Flags(1 << 10);
    /// The times are coarser than the latencies.
    pub const LOWRES: Flags = Flags(1 << 11);
    /// Object, offset or process were concluded, not observed.
    pub const INFERRED: Flags = Flags(1 << 12);
    /// Its beginning or end is not in the trace.
    pub const PARTIAL: Flags = Flags(1 << 13);
    /// Its times are not in order: no latency is made of them.
    pub const DISORDERED: Flags = Flags(1 << 14);

    /// The names, least bit first.
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

    /// As the number in a file; unknown bits are kept.
    pub const fn from_bits(bits: u32) -> Flags {
        Flags(bits)
    }

    /// The number in a file.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether all of `others` are set.
    pub const fn has(self, others: Flags) -> bool {
        self.0 & others.0 == others.0
    }

    /// These, without `others`.
    pub const fn without(self, others: Flags) -> Flags {
        Flags(self.0 & !others.0)
    }

    /// The words of those that are set.
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
