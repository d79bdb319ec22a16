//! The latency cost of a property: requests with it compared with requests of the same size without it.

use serde::Serialize;

/// Powers of two of the size.
const SIZES: usize = 64;
/// Fewer requests on either side are not compared.
const MIN_REQUESTS: u64 = 8;

#[derive(Clone, Debug)]
pub(super) struct PenaltyCollector {
    /// Count and sum of latencies by size, without and with the property.
    sums: Box<[[(u64, u64); 2]; SIZES]>,
}

impl Default for PenaltyCollector {
    fn default() -> PenaltyCollector {
        PenaltyCollector { sums: Box::new([[(0, 0); 2]; SIZES]) }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LatencyPenalty {
    /// The share of requests with the property.
    pub share: f64,
    /// The additional latency at the same size; none if too few requests can be compared.
    pub penalty_ns: Option<f64>,
    /// The mean latency without the property, weighted like the penalty.
    pub without_ns: Option<f64>,
}

impl PenaltyCollector {
    pub(super) fn add(&mut self, nbytes: u64, has_property: bool, latency_ns: u64) {
        let size = nbytes.checked_ilog2().unwrap_or(0) as usize;
        let (count, sum) = &mut self.sums[size][usize::from(has_property)];
        *count += 1;
        *sum += latency_ns;
    }

    pub(super) fn metrics(&self) -> LatencyPenalty {
        let count = |side: usize| self.sums.iter().map(|size| size[side].0).sum::<u64>();
        let (without, with) = (count(0), count(1));
        let (mut weight, mut penalty, mut plain) = (0.0, 0.0, 0.0);
        for [(without, without_ns), (with, with_ns)] in self.sums.iter() {
            if *without >= MIN_REQUESTS && *with >= MIN_REQUESTS {
                let mean_without = *without_ns as f64 / *without as f64;
                let mean_with = *with_ns as f64 / *with as f64;
                weight += *with as f64;
                penalty += *with as f64 * (mean_with - mean_without);
                plain += *with as f64 * mean_without;
            }
        }
        LatencyPenalty {
            share: with as f64 / ((with + without) as f64).max(1.0),
            penalty_ns: (weight > 0.0).then(|| penalty / weight),
            without_ns: (weight > 0.0).then(|| plain / weight),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_penalty_compares_requests_of_equal_size_only() {
        let mut penalty = PenaltyCollector::default();
        for _ in 0..10 {
            penalty.add(4096, false, 100);
            penalty.add(4096, true, 150);
            penalty.add(1 << 20, true, 9000);
        }
        let metrics = penalty.metrics();
        assert_eq!((metrics.penalty_ns, metrics.without_ns), (Some(50.0), Some(100.0)));
        assert!((metrics.share - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(PenaltyCollector::default().metrics().penalty_ns, None);
    }
}
