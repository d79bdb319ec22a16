//! The number and the width of a histogram's bins.

use laggard_kernels::bins::Scale;
use laggard_kernels::extent::Extent;
use laggard_kernels::quartiles::Overview;
use laggard_kernels::rows::Rows;
use serde::{Deserialize, Serialize};

/// Bins beyond this make histograms infeasible for bursty metrics (Intrepid paper, 4.2.2).
pub const MOST_BINS: u16 = 1000;

/// Divides the range of all peers' samples in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BinRule {
    /// By the number of samples of a window: 7 bins for 64 (FAST '10; named in the Intrepid paper, 4.2.2).
    Sturges,
    /// By the spread of all peers' samples (Intrepid paper, 4.2).
    FreedmanDiaconis { most: u16 },
    /// Always this number.
    Fixed { count: u16 },
}

impl BinRule {
    /// The rule as [`BinRule::text`] names it.
    pub fn named(text: &str) -> Option<BinRule> {
        match text {
            "sturges" => Some(BinRule::Sturges),
            "freedman-diaconis" => Some(BinRule::FreedmanDiaconis { most: MOST_BINS }),
            number => {
                let count = number.parse().ok().filter(|count| (2..=MOST_BINS).contains(count))?;
                Some(BinRule::Fixed { count })
            }
        }
    }

    /// As on the command line.
    pub fn text(self) -> String {
        match self {
            BinRule::Sturges => "sturges".into(),
            BinRule::FreedmanDiaconis { .. } => "freedman-diaconis".into(),
            BinRule::Fixed { count } => count.to_string(),
        }
    }

    /// The highest number of bins for windows of `samples`.
    pub fn most(self, samples: usize) -> u16 {
        match self {
            BinRule::Sturges => sturges(samples),
            BinRule::FreedmanDiaconis { most } => most,
            BinRule::Fixed { count } => count,
        }
    }

    /// The bins for a window whose last `fresh` columns are not in the previous one.
    pub fn scale(self, rows: Rows, fresh: usize, overview: &mut Overview) -> Scale {
        let extent = overview.measure(rows, fresh);
        let count = match self {
            BinRule::Sturges => sturges(rows.columns()),
            BinRule::Fixed { count } => count,
            BinRule::FreedmanDiaconis { most } => {
                let spread = overview.quartiles(rows, extent).map_or(0.0, |quartiles| quartiles.range());
                freedman_diaconis(extent, spread, rows.columns(), most)
            }
        };
        Scale::new(extent.low, extent.high, count)
    }
}

fn sturges(size: usize) -> u16 {
    ((size as f64).log2() + 1.0).ceil() as u16
}

/// Without spread the bins would be infinitely narrow: then their number is `most`.
fn freedman_diaconis(extent: Extent, spread: f64, size: usize, most: u16) -> u16 {
    let width = 2.0 * spread * (size as f64).powf(-1.0 / 3.0);
    let count = ((extent.high - extent.low) / width).ceil();
    if width > 0.0 { count.clamp(1.0, f64::from(most.max(1))) as u16 } else { most }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(rule: BinRule, values: &[f64]) -> Scale {
        rule.scale(Rows::new(values, values.len(), 0, values.len()), values.len(), &mut Overview::default())
    }

    #[test]
    fn sturges_gives_seven_bins_to_a_window_of_64() {
        assert_eq!(sturges(64), 7);
        assert_eq!(sturges(60), 7);
        assert_eq!(sturges(1), 1);
    }

    #[test]
    fn freedman_diaconis_uses_the_spread() {
        let values: Vec<f64> = (0..=1000).map(f64::from).collect();
        let rule = BinRule::FreedmanDiaconis { most: MOST_BINS };
        // The quartiles are 500 apart: 1000 / (2 * 500 * 1001^(-1/3)) is a little over ten.
        assert_eq!(scale(rule, &values).count, 11);
    }

    #[test]
    fn outliers_and_idleness_do_not_exceed_the_limit_of_bins() {
        let rule = BinRule::FreedmanDiaconis { most: 1000 };
        let mut values: Vec<f64> = (0..60).map(f64::from).collect();
        values.push(1e12);
        assert_eq!(scale(rule, &values).count, 1000);
        let idle: Vec<f64> = (0..60).map(|k| if k == 7 { 3.0 } else { 0.0 }).collect();
        assert_eq!(scale(rule, &idle).count, 1000);
    }

    #[test]
    fn a_fixed_number_of_bins_depends_on_nothing() {
        let values: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(scale(BinRule::Fixed { count: 12 }, &values).count, 12);
        assert_eq!(scale(BinRule::Fixed { count: 12 }, &values[..5]).count, 12);
        let rules = ["sturges", "freedman-diaconis", "12"].map(|text| BinRule::named(text).unwrap());
        assert_eq!(rules.map(BinRule::text), ["sturges", "freedman-diaconis", "12"]);
    }

    #[test]
    fn constant_samples_share_one_bin() {
        assert_eq!(scale(BinRule::FreedmanDiaconis { most: 1000 }, &[2.5; 60]).count, 1);
        assert_eq!(scale(BinRule::Sturges, &[2.5; 64]).count, 1);
    }
}
