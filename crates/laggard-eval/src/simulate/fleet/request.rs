//! Requests of a block device.

/// Microseconds since the begin of the recording.
pub(super) type Micros = u64;

pub(super) const SECOND: Micros = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Read,
    Write,
    Flush,
}

/// The origin of a request. All but `Small` have a limited number of requests in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Small,
    Stream,
    WriteBack,
    Hog,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub operation: Operation,
    pub origin: Origin,
    /// The first sector.
    pub position: u64,
    pub sectors: u32,
    /// Requests that were merged into this one.
    pub merged: u32,
    pub arrival: Micros,
}

impl Request {
    pub(super) fn end(&self) -> u64 {
        self.position + u64::from(self.sectors)
    }
}

/// `max_sectors_kb` of Linux: 1280 KiB.
pub(super) const LARGEST: u32 = 2560;
