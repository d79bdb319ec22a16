//! Requests of the block layer that are queued or at the device, found by the sectors they cover.

use std::collections::{BTreeMap, VecDeque};

use crate::hashing::WordMap;

use crate::model::{Event, Op};
use crate::tracepoints::Device;

/// More open requests than this are taken for ends that were lost.
const MOST_OPEN: usize = 1 << 17;

/// What the kernel was handed: a bio, a blk request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bio {
    pub admit: Event,
    pub end: u64,
    /// Sectors that have not gone to the device yet.
    pub unissued: u64,
    /// Sectors that have not come back yet.
    pub undone: u64,
    pub status: i32,
    pub is_merged: bool,
    pub is_split: bool,
}

/// What the device was handed: a request of one or more bios, a dev request.
#[derive(Clone, Debug)]
pub(super) struct Issued {
    pub admit: Event,
    pub end: u64,
    /// All its sectors, also of what has come back.
    pub sectors: u64,
    pub members: Vec<Place>,
    pub status: i32,
}

/// Where a request is held: several may begin at the same sector.
pub(super) type Place = (Device, u64, u64);

/// Requests by place.
#[derive(Debug)]
pub(super) struct Shelf<T> {
    held: BTreeMap<Place, T>,
    serial: u64,
    longest: u64,
}

impl<T> Default for Shelf<T> {
    fn default() -> Shelf<T> {
        Shelf { held: BTreeMap::new(), serial: 0, longest: 0 }
    }
}

impl<T> Shelf<T> {
    /// Puts a request that begins at a sector and is so long; how many had to go for it.
    pub fn put(&mut self, device: Device, sector: u64, sectors: u64, request: T) -> u64 {
        let mut gone = 0;
        if self.held.len() >= MOST_OPEN {
            gone = self.held.len() as u64;
            self.held.clear();
        }
        self.serial += 1;
        self.longest = self.longest.max(sectors);
        self.held.insert((device, sector, self.serial), request);
        gone
    }

    /// Those that may overlap sectors, in the order of their begin.
    pub fn near(&mut self, device: Device, begin: u64, end: u64) -> impl Iterator<Item = (Place, &mut T)> {
        let from = (device, begin.saturating_sub(self.longest), 0);
        let to = (device, end, 0);
        let is_range = from <= to;
        self.held
            .range_mut(if is_range { from..to } else { from..from })
            .map(|(place, request)| (*place, request))
    }

    /// Those that begin at a sector, oldest first.
    pub fn at(&self, device: Device, sector: u64) -> impl Iterator<Item = (Place, &T)> {
        self.held
            .range((device, sector, 0)..=(device, sector, u64::MAX))
            .map(|(place, request)| (*place, request))
    }

    pub fn get(&mut self, place: Place) -> Option<&mut T> {
        self.held.get_mut(&place)
    }

    pub fn take(&mut self, place: Place) -> Option<T> {
        self.held.remove(&place)
    }

    pub fn count(&self) -> u64 {
        self.held.len() as u64
    }
}

/// Requests without sectors, such as flushes: first in, first out.
#[derive(Debug, Default)]
pub(super) struct Flushes {
    pub queued: WordMap<Device, VecDeque<Event>>,
    pub issued: WordMap<Device, VecDeque<(Event, Option<Event>)>>,
}

/// Sectors that two stretches have in common.
pub(super) fn overlap(a: (u64, u64), b: (u64, u64)) -> u64 {
    a.1.min(b.1).saturating_sub(a.0.max(b.0))
}

/// Whether two operations go the same way.
pub(super) fn same_way(a: Op, b: Op) -> bool {
    a == b || matches!((a, b), (Op::Other, _) | (_, Op::Other))
}
