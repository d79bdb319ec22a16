//! Requests that are queued or at the device, found by sector.

use std::collections::{BTreeMap, VecDeque};

use crate::hashing::WordMap;

use crate::model::{Event, Op};
use crate::tracepoints::Device;

/// With more open requests than this, the ends are assumed to be lost.
const MAX_OPEN: usize = 1 << 17;

/// A bio: a request of the layer blk.
#[derive(Clone, Copy, Debug)]
pub(in crate::mapping) struct Bio {
    pub admit: Event,
    pub end: u64,
    /// Sectors that have not been sent to the device.
    pub unissued: u64,
    /// Sectors that have not completed.
    pub undone: u64,
    pub status: i32,
    pub is_merged: bool,
    pub is_split: bool,
}

/// A request of the layer dev: one or more bios.
#[derive(Clone, Debug)]
pub(in crate::mapping) struct DeviceRequest {
    pub admit: Event,
    pub end: u64,
    /// Including completed ones.
    pub sectors: u64,
    pub members: Vec<RequestKey>,
    pub status: i32,
}

/// Device, first sector, serial number: several requests may begin at the same sector.
pub(in crate::mapping) type RequestKey = (Device, u64, u64);

#[derive(Debug)]
pub(in crate::mapping) struct OpenRequests<T> {
    held: BTreeMap<RequestKey, T>,
    serial: u64,
    longest: u64,
}

impl<T> Default for OpenRequests<T> {
    fn default() -> OpenRequests<T> {
        OpenRequests { held: BTreeMap::new(), serial: 0, longest: 0 }
    }
}

impl<T> OpenRequests<T> {
    /// Returns the number of requests dropped because there were too many.
    pub(crate) fn put(&mut self, device: Device, sector: u64, sectors: u64, request: T) -> u64 {
        let mut gone = 0;
        if self.held.len() >= MAX_OPEN {
            gone = self.held.len() as u64;
            self.held.clear();
        }
        self.serial += 1;
        self.longest = self.longest.max(sectors);
        self.held.insert((device, sector, self.serial), request);
        gone
    }

    /// Requests that may overlap the sectors, ordered by begin.
    pub(crate) fn near(
        &mut self,
        device: Device,
        begin: u64,
        end: u64,
    ) -> impl Iterator<Item = (RequestKey, &mut T)> {
        let from = (device, begin.saturating_sub(self.longest), 0);
        let to = (device, end, 0);
        let is_range = from <= to;
        self.held
            .range_mut(if is_range { from..to } else { from..from })
            .map(|(place, request)| (*place, request))
    }

    /// Oldest first.
    pub(crate) fn at(&self, device: Device, sector: u64) -> impl Iterator<Item = (RequestKey, &T)> {
        self.held
            .range((device, sector, 0)..=(device, sector, u64::MAX))
            .map(|(place, request)| (*place, request))
    }

    pub(crate) fn get(&mut self, place: RequestKey) -> Option<&mut T> {
        self.held.get_mut(&place)
    }

    pub(crate) fn take(&mut self, place: RequestKey) -> Option<T> {
        self.held.remove(&place)
    }

    pub(crate) fn count(&self) -> u64 {
        self.held.len() as u64
    }
}

/// Requests without sectors, such as flushes; first in, first out.
#[derive(Debug, Default)]
pub(in crate::mapping) struct Flushes {
    pub queued: WordMap<Device, VecDeque<Event>>,
    pub issued: WordMap<Device, VecDeque<(Event, Option<Event>)>>,
}

/// The number of sectors in both ranges.
pub(in crate::mapping) fn overlap(a: (u64, u64), b: (u64, u64)) -> u64 {
    a.1.min(b.1).saturating_sub(a.0.max(b.0))
}

pub(in crate::mapping) fn is_same_direction(a: Op, b: Op) -> bool {
    a == b || matches!((a, b), (Op::Other, _) | (_, Op::Other))
}
