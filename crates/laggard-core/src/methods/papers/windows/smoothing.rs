//! Moving averages with missing samples.

use laggard_kernels::average::moving_average;
use serde::{Deserialize, Serialize};

/// The mean of the last `span` samples.
///
/// A mean skips missing samples if at least `least` samples are present; otherwise it is missing too. The papers do not
/// say. If one missing sample were enough, a single clock step would remove `span` means of a component, more than many
/// faults do, while the Intrepid paper (section 6) found its diagnosis insensitive to such losses. The means of an absent
/// component are missing after half a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Smoothing {
    pub span: usize,
    pub least: usize,
}

impl Smoothing {
    /// At least half of the samples must be present.
    pub const fn of(span: usize) -> Smoothing {
        Smoothing { span, least: span.div_ceil(2) }
    }

    /// All samples must be present.
    pub const fn complete(span: usize) -> Smoothing {
        Smoothing { span, least: span }
    }

    /// The first `span - 1` values have no mean. `memory` is a buffer.
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
