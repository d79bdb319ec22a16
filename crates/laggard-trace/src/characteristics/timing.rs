//! Where a request's time goes: waiting to be issued, in the layers below, and returning (paper 004, timing breakdown),
//! and the layer's own time. Characteristics 12 to 14.

use serde::Serialize;

use super::histogram::{Histogram, Summary};
use crate::linking::OpenRequest;

#[derive(Clone, Debug, Default)]
pub(super) struct TimingCollector {
    wait_ns: Histogram,
    below_ns: Histogram,
    return_ns: Histogram,
    self_ns: u64,
    latency_ns: u64,
    measured: u64,
    disordered: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimingMetrics {
    /// From ADMIT to ISSUE.
    pub wait_ns: Summary,
    /// From ISSUE to COMPLT.
    pub below_ns: Summary,
    /// From COMPLT to CALLBACK.
    pub return_ns: Summary,
    /// Total wait time divided by total time below.
    pub queue_ratio: Option<f64>,
    /// The share of latency in which no lower layer had the request.
    pub self_share: f64,
    /// The same in seconds, over all requests.
    pub self_seconds: f64,
    /// The sum of all latencies.
    pub latency_seconds: f64,
    /// Requests whose times are not in order; they have no latency.
    pub disordered: u64,
}

impl TimingCollector {
    pub(super) fn add(&mut self, open: &OpenRequest) {
        if !open.request.is_ordered() {
            self.disordered += 1;
            return;
        }
        let Some(latency_ns) = open.request.latency_ns() else { return };
        self.measured += 1;
        self.latency_ns += latency_ns;
        self.self_ns += open.self_ns().unwrap_or(0);
        if let Some([wait, below, back]) = open.request.stages_ns() {
            self.wait_ns.add(wait);
            self.below_ns.add(below);
            self.return_ns.add(back);
        }
    }

    pub(super) fn metrics(&self) -> TimingMetrics {
        let (wait, below) = (self.wait_ns.sum(), self.below_ns.sum());
        let share = self.self_ns as f64 / (self.latency_ns as f64).max(1.0);
        TimingMetrics {
            wait_ns: self.wait_ns.summary(),
            below_ns: self.below_ns.summary(),
            return_ns: self.return_ns.summary(),
            queue_ratio: (below > 0.0).then(|| wait / below),
            self_share: if self.measured == 0 { 0.0 } else { share },
            self_seconds: self.self_ns as f64 / 1e9,
            latency_seconds: self.latency_ns as f64 / 1e9,
            disordered: self.disordered,
        }
    }
}
