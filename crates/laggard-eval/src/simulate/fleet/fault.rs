//! Faults, and irregularities that are not faults.

use laggard_core::diagnosis::Cause;
use laggard_core::model::random::Random;

use super::request::{Micros, SECOND};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// A constant factor on all service times.
    Slow,
    /// A factor that grows from 1.
    Ramp,
    /// The disk freezes for some seconds of every minute.
    Stalls,
    /// A share of the reads needs the drive's error recovery.
    Retries,
    LostDisk,
    ServerDown,
    SlowLink,
    PacketLoss,
    CpuHog,
    DiskHog,
    NetworkHog,
    MemoryPressure,
    HotSpot,
    SampleLoss,
    Reboot,
    LateJoin,
}

use FaultKind::{
    CpuHog, DiskHog, HotSpot, LateJoin, LostDisk, MemoryPressure, NetworkHog, PacketLoss, Ramp, Reboot,
    Retries, SampleLoss, ServerDown, Slow, SlowLink, Stalls,
};

type Row = (FaultKind, &'static str, bool, f64, (f64, f64), &'static [&'static str]);

/// A row for each kind: its name, whether it concerns one disk, the default magnitude and its range, and the causes that
/// describe it, best first. The first one that exists is the label.
const KINDS: [Row; 16] = [
    (Slow, "slow", true, 3.0, (1.0, 100.0), &["disk-busy"]),
    (Ramp, "ramp", true, 3.0, (1.0, 100.0), &["disk-busy"]),
    (Stalls, "stalls", true, 5.0, (0.1, 30.0), &["stalls", "disk-busy"]),
    (Retries, "retries", true, 0.05, (0.0, 1.0), &["media-errors", "disk-busy"]),
    (LostDisk, "lost-disk", true, 1.0, (1.0, 1.0), &["lost-attachment"]),
    (ServerDown, "server-down", false, 1.0, (1.0, 1.0), &["server-down"]),
    (SlowLink, "slow-link", false, 10.0, (1.0, 1000.0), &["slow-link", "unknown"]),
    (PacketLoss, "packet-loss", false, 0.02, (0.0, 0.5), &["packet-loss"]),
    (CpuHog, "cpu-hog", false, 0.8, (0.0, 0.99), &["cpu-hog", "unknown"]),
    (DiskHog, "disk-hog", true, 16.0, (1.0, 128.0), &["disk-hog"]),
    (NetworkHog, "network-hog", false, 0.7, (0.0, 1.0), &["network-hog"]),
    (MemoryPressure, "memory-pressure", false, 0.9, (0.0, 1.0), &["memory-pressure", "unknown"]),
    (HotSpot, "hot-spot", true, 3.0, (1.0, 100.0), &["workload-skew"]),
    (SampleLoss, "sample-loss", false, 0.15, (0.0, 0.9), &[]),
    (Reboot, "reboot", false, 1.0, (1.0, 1.0), &["server-down"]),
    (LateJoin, "late-join", false, 1.0, (1.0, 1.0), &[]),
];

impl FaultKind {
    pub(super) fn names() -> Vec<(&'static str, FaultKind)> {
        KINDS.iter().map(|&(kind, name, ..)| (name, kind)).collect()
    }

    fn row(self) -> &'static Row {
        KINDS.iter().find(|row| row.0 == self).unwrap_or(&KINDS[0])
    }

    pub(super) fn is_of_disk(self) -> bool {
        self.row().2
    }

    pub(super) fn usual_magnitude(self) -> f64 {
        self.row().3
    }

    pub(super) fn magnitudes(self) -> (f64, f64) {
        self.row().4
    }

    /// `None` if no component is to be labelled.
    pub(super) fn cause(self) -> Option<Cause> {
        self.row().5.iter().find_map(|name| Cause::named(name))
    }
}

/// A fault of one component for a time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    pub kind: FaultKind,
    pub server: usize,
    /// The number of the data disk; that of the server's first one if the fault concerns the server.
    pub disk: usize,
    pub magnitude: f64,
    pub begin: Micros,
    pub end: Micros,
    pub seed: u64,
}

/// Share of a disk's time that is not lost, and the factor on service times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    pub slowness: f64,
    pub frozen: f64,
}

const MINUTE: Micros = 60 * SECOND;

impl Fault {
    pub(super) fn is_on(&self, time: Micros) -> bool {
        (self.begin..self.end).contains(&time)
    }

    /// True if the disk or the server does not work at that time.
    pub(super) fn is_gone(&self, time: Micros) -> bool {
        match self.kind {
            LostDisk | ServerDown | Reboot => self.is_on(time),
            LateJoin => time < self.begin,
            _ => false,
        }
    }

    /// The freeze that begins in the minute of this time.
    fn freeze(&self, time: Micros) -> (Micros, Micros) {
        let minute = time / MINUTE;
        let length = (self.magnitude * SECOND as f64) as Micros;
        let latest = MINUTE.saturating_sub(length).max(1);
        let offset = Random::of(self.seed, &[minute]).below(latest as usize) as Micros;
        let begin = minute * MINUTE + offset;
        (begin, begin + length)
    }

    /// The mean state of a disk over one second, for the pace of those that wait for it.
    pub(super) fn pace(&self, time: Micros) -> Pace {
        let mut pace = Pace { slowness: self.slowness(time), frozen: 0.0 };
        if self.kind == Stalls && self.is_on(time) {
            let (begin, end) = self.freeze(time);
            let overlap = end.min(time + SECOND).saturating_sub(begin.max(time));
            pace.frozen = overlap as f64 / SECOND as f64;
        }
        if self.kind == Retries && self.is_on(time) {
            pace.slowness += self.magnitude * 40.0;
        }
        if self.kind == DiskHog && self.is_on(time) {
            pace.slowness = 1.0 + self.magnitude / 4.0;
        }
        pace
    }

    fn slowness(&self, time: Micros) -> f64 {
        if !self.is_on(time) {
            return 1.0;
        }
        let passed = (time - self.begin) as f64 / (self.end - self.begin).max(1) as f64;
        match self.kind {
            Slow => self.magnitude,
            Ramp => 1.0 + (self.magnitude - 1.0) * passed,
            _ => 1.0,
        }
    }

    /// The end of a request that is started now and would take `service_us`.
    pub(super) fn finish(
        &self,
        start: Micros,
        service_us: f64,
        is_read: bool,
        random: &mut Random,
    ) -> Micros {
        let mut service_us = service_us * self.slowness(start);
        if !self.is_on(start) {
            return start + service_us as Micros;
        }
        if self.kind == Retries && is_read && random.happens(self.magnitude) {
            // A drive repeats a read for some revolutions, then for seconds: two clearly separate latencies.
            service_us += random.between(150_000.0, 1_200_000.0);
        }
        self.thaw(start, service_us)
    }

    /// The same without error recovery, for a resource that other requests share.
    pub(super) fn transfer(&self, start: Micros, service_us: f64) -> Micros {
        let service_us = service_us * self.slowness(start);
        if self.is_on(start) { self.thaw(start, service_us) } else { start + service_us as Micros }
    }

    /// The end of a service that waits while the disk is frozen.
    fn thaw(&self, mut start: Micros, mut service_us: f64) -> Micros {
        if self.kind == Stalls {
            let (begin, end) = self.freeze(start);
            if (begin..end).contains(&start) {
                start = end;
            } else if start < begin && start + service_us as Micros > begin {
                service_us += (end - begin) as f64;
            }
        }
        start + service_us as Micros
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(kind: FaultKind, magnitude: f64) -> Fault {
        Fault { kind, server: 0, disk: 0, magnitude, begin: MINUTE, end: 11 * MINUTE, seed: 5 }
    }

    #[test]
    fn a_disk_freezes_once_in_every_minute_of_a_stall() {
        let fault = fault(Stalls, 5.0);
        let frozen: f64 = (0..720).map(|second| fault.pace(second * SECOND).frozen).sum();
        assert!((frozen - 50.0).abs() < 0.1, "{frozen}");
        let mut random = Random::of(1, &[]);
        let (begin, end) = fault.freeze(2 * MINUTE);
        assert_eq!(fault.finish(begin + 10, 100.0, true, &mut random), end + 100);
        assert_eq!(fault.finish(begin - 10, 100.0, true, &mut random), end + 90);
    }

    #[test]
    fn every_kind_has_a_row_and_a_magnitude_in_range() {
        for (name, kind) in FaultKind::names() {
            let (least, most) = kind.magnitudes();
            assert_eq!(kind.row().1, name);
            assert!((least..=most).contains(&kind.usual_magnitude()), "{name}");
        }
    }
}
