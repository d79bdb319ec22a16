//! Moving averages, and how missing samples count in them.

use laggard_kernels::average::moving_average;
use serde::{Deserialize, Serialize};

/// The mean of the last `span` samples.
///
/// Missing samples are left out of a mean, as long as at least `least` are there; otherwise the mean is missing
/// too. The papers are silent on it. Were one missing sample enough to lose the mean, a single clock step would
/// take out `span` means of one component, more than many a fault does, while the Intrepid paper (section 6)
/// found its diagnosis insensitive to such losses. A component that is gone still shows: its means are missing
/// after half a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Smoothing {
    /// Samples in a mean.
    pub span: usize,
    /// Samples that must be there.
    pub least: usize,
}

impl Smoothing {
    /// Means of so many samples, at least half of which must be there.
    pub const fn of(span: usize) -> Smoothing {
        Smoothing { span, least: span.div_ceil(2) }
    }

    /// Means of so many samples, all of which must be there.
    pub const fn complete(span: usize) -> Smoothing {
        Smoothing { span, least: span }
    }

    /// The means of values, of which the first `span - 1` have none of their own. `memory` is used again and again.
    pub(crate) fn means(&self, values: &[f64], memory: &mut Vec<f64>, means: &mut [f64]) {
        moving_average(values, self.span.max(1), self.least, memory, means);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smoothed(smoothing: Smoothing, row: &[f64]) -> Vec<f64> {
        let mut means = vec![0.0; row.len() + 1 - smoothing.span];
        smoothing.means(row, &mut Vec::new(), &mut means);
        means
    }

    #[test]
    fn a_mean_covers_a_sample_and_those_before_it() {
        assert_eq!(smoothed(Smoothing::of(3), &[1.0, 2.0, 3.0, 7.0]), [2.0, 4.0]);
    }

    #[test]
    fn a_lost_sample_is_bridged_and_a_lost_half_is_not() {
        let row = [1.0, 1.0, f64::NAN, 4.0, f64::NAN, f64::NAN];
        let means = smoothed(Smoothing::of(3), &row);
        assert_eq!(means[..2], [1.0, 2.5]);
        assert!(means[2].is_nan() && means[3].is_nan());
        assert!(smoothed(Smoothing::complete(3), &row).iter().all(|mean| mean.is_nan()));
    }
}
