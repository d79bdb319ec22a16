//! Counts of a set of requests: number, size, latency, concurrency.

use serde::Serialize;

use super::histogram::{Histogram, Summary};
use super::levels::{LevelDurations, LevelTracker, Window};

#[derive(Clone, Debug, Default)]
pub(super) struct LoadCollector {
    /// Open requests.
    pub(super) levels: LevelTracker,
    latency_ns: Histogram,
    size_bytes: Histogram,
    /// Requests that began.
    pub(super) requests: u64,
    bytes: u64,
}

impl LoadCollector {
    /// `nbytes` is set if the request has a size that is already known.
    pub(super) fn begin(&mut self, nbytes: Option<u64>, now_ns: u64, window: &Window) {
        self.levels.enter(now_ns, window);
        self.requests += 1;
        if let Some(nbytes) = nbytes {
            self.size(nbytes);
        }
    }

    pub(super) fn size(&mut self, nbytes: u64) {
        self.bytes = self.bytes.saturating_add(nbytes);
        self.size_bytes.add(nbytes);
    }

    pub(super) fn end(&mut self, latency_ns: Option<u64>, now_ns: u64, window: &Window) {
        self.levels.leave(now_ns, window);
        if let Some(latency_ns) = latency_ns {
            self.latency_ns.add(latency_ns);
        }
    }

    /// The window begins now.
    pub(super) fn restart(&mut self, now_ns: u64) {
        let mut levels = std::mem::take(&mut self.levels);
        levels.restart(now_ns);
        *self = LoadCollector { levels, ..LoadCollector::default() };
    }

    pub(super) fn load(self, window: &Window) -> Load {
        let levels = self.levels.finish(window);
        let (wall, busy) = (window.length_ns() as f64, levels.busy_ns() as f64);
        let rate = |amount: f64, ns: f64| if ns > 0.0 { amount / ns * 1e9 } else { 0.0 };
        let (bytes, requests) = (self.bytes as f64, self.requests as f64);
        Load {
            requests: self.requests,
            bytes: self.bytes,
            concurrency: concurrency(&levels, wall),
            busy_share: if wall > 0.0 { busy / wall } else { 0.0 },
            idle_share: if wall > 0.0 { 1.0 - busy / wall } else { 0.0 },
            busy_seconds: busy / 1e9,
            bytes_per_busy_second: rate(bytes, busy),
            bytes_per_second: rate(bytes, wall),
            requests_per_busy_second: rate(requests, busy),
            requests_per_second: rate(requests, wall),
            latency_ns: self.latency_ns.summary(),
            size_bytes: sizes(&self.size_bytes),
        }
    }
}

/// Characteristics 1, 3, 5 and 6.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Load {
    pub requests: u64,
    /// Requested, not transferred.
    pub bytes: u64,
    /// From ADMIT to CALLBACK.
    pub concurrency: Concurrency,
    /// The share of the window with at least one open request.
    pub busy_share: f64,
    pub idle_share: f64,
    pub busy_seconds: f64,
    /// The paper's throughput.
    pub bytes_per_busy_second: f64,
    pub bytes_per_second: f64,
    pub requests_per_busy_second: f64,
    pub requests_per_second: f64,
    /// From ADMIT to CALLBACK.
    pub latency_ns: Summary,
    pub size_bytes: Sizes,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Concurrency {
    /// The mean over the window.
    pub avg: f64,
    pub max: u32,
    /// The mean over the time with at least one request.
    pub busy_avg: f64,
    /// The share of the window at 0, 1, 2, ...; the last one includes all higher levels.
    pub shares: Vec<f64>,
}

const MAX_SHARES: usize = 33;

pub(super) fn concurrency(levels: &LevelDurations, wall_ns: f64) -> Concurrency {
    let area = levels.area_ns();
    let busy = levels.busy_ns() as f64;
    let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let mut shares: Vec<f64> = Vec::new();
    for (level, lasted) in levels.lasted_ns.iter().enumerate() {
        let share = ratio(*lasted as f64, wall_ns);
        match shares.get_mut(MAX_SHARES - 1) {
            Some(last) if level >= MAX_SHARES => *last += share,
            _ => shares.push(share),
        }
    }
    Concurrency { avg: ratio(area, wall_ns), max: levels.highest, busy_avg: ratio(area, busy), shares }
}

const SMALL_BYTES: u64 = 65_536;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sizes {
    pub avg: f64,
    pub p50: f64,
    pub p95: f64,
    pub max: f64,
    /// The share below 64 KiB.
    pub small_share: f64,
    /// Counts from each power of two to below the next.
    pub by_power_of_two: Vec<(u64, u64)>,
}

fn sizes(histogram: &Histogram) -> Sizes {
    let summary = histogram.summary();
    let count = histogram.count().max(1) as f64;
    Sizes {
        avg: summary.avg,
        p50: summary.p50,
        p95: summary.p95,
        max: summary.max,
        small_share: histogram.below(SMALL_BYTES) as f64 / count,
        by_power_of_two: histogram.by_power_of_two(),
    }
}
