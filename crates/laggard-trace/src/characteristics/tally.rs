//! What is counted of any set of requests: how many, how large, how long, how many at once.

use serde::Serialize;

use super::histogram::{Histogram, Summary};
use super::sweep::{Levels, Sweep, Window};

/// Counts of a set of requests.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How many are open.
    pub sweep: Sweep,
    /// From ADMIT to CALLBACK.
    pub latency_ns: Histogram,
    /// Bytes asked for.
    pub size_bytes: Histogram,
    /// How many began.
    pub requests: u64,
    /// Bytes asked for.
    pub bytes: u64,
}

impl Tally {
    /// A request begins; its size, if it has one and that is known yet.
    pub fn begin(&mut self, nbytes: Option<u64>, now_ns: u64, window: &Window) {
        self.sweep.enter(now_ns, window);
        self.requests += 1;
        if let Some(nbytes) = nbytes {
            self.size(nbytes);
        }
    }

    /// The size of a request.
    pub fn size(&mut self, nbytes: u64) {
        self.bytes = self.bytes.saturating_add(nbytes);
        self.size_bytes.add(nbytes);
    }

    /// A request ends.
    pub fn end(&mut self, latency_ns: Option<u64>, now_ns: u64, window: &Window) {
        self.sweep.leave(now_ns, window);
        if let Some(latency_ns) = latency_ns {
            self.latency_ns.add(latency_ns);
        }
    }

    /// The window begins now.
    pub fn restart(&mut self, now_ns: u64) {
        let mut sweep = std::mem::take(&mut self.sweep);
        sweep.restart(now_ns);
        *self = Tally { sweep, ..Tally::default() };
    }

    /// What is told of it.
    pub fn load(self, window: &Window) -> Load {
        let levels = self.sweep.finish(window);
        let (wall, busy) = (window.length_ns() as f64, levels.busy_ns() as f64);
        let rate = |amount: f64, ns: f64| if ns > 0.0 { amount / ns * 1e9 } else { 0.0 };
        let latency = self.latency_ns.summary();
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
            latency_ns: latency,
            size_bytes: sizes(&self.size_bytes),
        }
    }
}

/// What is told of a set of requests: characteristics 1, 3, 5 and 6.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Load {
    /// How many.
    pub requests: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// How many at once, from ADMIT to CALLBACK.
    pub concurrency: Concurrency,
    /// The share of the window with at least one open.
    pub busy_share: f64,
    /// The share with none.
    pub idle_share: f64,
    /// How long at least one was open.
    pub busy_seconds: f64,
    /// Paper's throughput: bytes by busy time.
    pub bytes_per_busy_second: f64,
    /// Bytes by the window's length.
    pub bytes_per_second: f64,
    /// Requests by busy time.
    pub requests_per_busy_second: f64,
    /// Requests by the window's length.
    pub requests_per_second: f64,
    /// From ADMIT to CALLBACK.
    pub latency_ns: Summary,
    /// Bytes of a request.
    pub size_bytes: Sizes,
}

/// How many at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Concurrency {
    /// The mean over the window.
    pub avg: f64,
    /// The most.
    pub max: u32,
    /// The mean over the time with at least one.
    pub busy_avg: f64,
    /// The share of the window at 0, 1, 2, ... and, in the last place, at that many or more.
    pub shares: Vec<f64>,
}

/// Shares of deeper levels are told together.
const TOLD_LEVELS: usize = 33;

/// From how long each level lasted.
pub fn concurrency(levels: &Levels, wall_ns: f64) -> Concurrency {
    let area = levels.area_ns();
    let busy = levels.busy_ns() as f64;
    let of = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let mut shares: Vec<f64> = Vec::new();
    for (level, lasted) in levels.lasted_ns.iter().enumerate() {
        let share = of(*lasted as f64, wall_ns);
        match shares.get_mut(TOLD_LEVELS - 1) {
            Some(last) if level >= TOLD_LEVELS => *last += share,
            _ => shares.push(share),
        }
    }
    Concurrency { avg: of(area, wall_ns), max: levels.highest, busy_avg: of(area, busy), shares }
}

/// Requests below this are small.
pub const SMALL_BYTES: u64 = 65_536;

/// Sizes of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sizes {
    /// The mean.
    pub avg: f64,
    /// Half are no larger.
    pub p50: f64,
    /// 95 in a hundred are no larger.
    pub p95: f64,
    /// The largest.
    pub max: f64,
    /// The share below [`SMALL_BYTES`].
    pub small_share: f64,
    /// How many from each power of two to below the next.
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
