//! Bursts: how unevenly requests arrive. Characteristic 26.

use serde::Serialize;

const BIN_NS: u64 = 100_000_000;
/// Later arrivals are counted in the last bin: at least a day.
const MAX_BINS: usize = 1 << 20;

#[derive(Clone, Debug, Default)]
pub(super) struct ArrivalCollector {
    last_ns: Option<u64>,
    gaps: u64,
    sum: f64,
    squares: f64,
    bins: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Burstiness {
    /// Standard deviation of the gaps between arrivals divided by their mean: 1 for random arrivals.
    pub gap_variation: f64,
    /// The largest number of arrivals in a tenth of a second divided by the mean.
    pub peak_over_mean: f64,
}

impl ArrivalCollector {
    pub(super) fn add(&mut self, now_ns: u64, window_from_ns: u64) {
        if let Some(last_ns) = self.last_ns {
            let gap = now_ns.saturating_sub(last_ns) as f64;
            self.gaps += 1;
            self.sum += gap;
            self.squares += gap * gap;
        }
        self.last_ns = Some(now_ns);
        let bin = ((now_ns.saturating_sub(window_from_ns) / BIN_NS) as usize).min(MAX_BINS - 1);
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
    }

    pub(super) fn metrics(&self) -> Burstiness {
        if self.gaps == 0 {
            return Burstiness::default();
        }
        let mean = self.sum / self.gaps as f64;
        let variance = (self.squares / self.gaps as f64 - mean * mean).max(0.0);
        let total: f64 = self.bins.iter().map(|count| f64::from(*count)).sum();
        let peak = self.bins.iter().copied().max().map_or(0.0, f64::from);
        Burstiness {
            gap_variation: if mean > 0.0 { variance.sqrt() / mean } else { 0.0 },
            peak_over_mean: peak / (total / self.bins.len() as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rate_is_not_a_burst() {
        let mut arrivals = ArrivalCollector::default();
        (0..1000u64).for_each(|k| arrivals.add(5000 + k * 1_000_000, 5000));
        let metrics = arrivals.metrics();
        assert!(metrics.gap_variation < 1e-3 && (metrics.peak_over_mean - 1.0).abs() < 1e-9, "{metrics:?}");
    }

    #[test]
    fn many_arrivals_after_a_pause_are_a_burst() {
        let mut arrivals = ArrivalCollector::default();
        arrivals.add(0, 0);
        (0..99u64).for_each(|k| arrivals.add(950_000_000 + k, 0));
        let metrics = arrivals.metrics();
        assert!(metrics.gap_variation > 5.0 && (metrics.peak_over_mean - 9.9).abs() < 1e-9, "{metrics:?}");
    }
}
