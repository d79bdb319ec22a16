//! The distance of each component from its peers, in one window.
//! In: the smoothed samples of a window, a row for each member of the group. Out: scores, or decisions at given
//! thresholds. Always: the order of the members changes no score, and decisions equal those of all pairs.

pub mod bins;
pub mod cdf;
mod curves;
pub mod kl;
pub mod median;
pub mod naive;
pub mod pairs;
pub mod partitions;
pub mod peak;
mod pivots;

use laggard_kernels::rows::Rows;
use serde::{Deserialize, Serialize};

use bins::BinRule;

/// The distance of two components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// The area between their cumulative histograms (Intrepid paper, 4.2).
    Cdf,
    /// The symmetric Kullback-Leibler divergence of their histograms (FAST '10 paper, 10.1).
    Kl,
    /// The distance from the group's median at the same instants (Intrepid paper, 5.3).
    Median,
    /// The highest sample, without a comparison (Intrepid paper, 5.3).
    Thresh,
}

impl Measure {
    pub const ALL: [Measure; 4] = [Measure::Cdf, Measure::Kl, Measure::Median, Measure::Thresh];

    pub fn as_str(self) -> &'static str {
        match self {
            Measure::Cdf => "cdf",
            Measure::Kl => "kl",
            Measure::Median => "median",
            Measure::Thresh => "thresh",
        }
    }

    pub fn named(word: &str) -> Option<Measure> {
        Measure::ALL.into_iter().find(|measure| measure.as_str() == word)
    }

    /// True if samples are counted in bins.
    pub fn has_bins(self) -> bool {
        matches!(self, Measure::Cdf | Measure::Kl)
    }

    /// No score of windows with this number of samples is higher. None: the score has the metric's unit.
    pub fn highest_score(self, rule: BinRule, empty_bin: f64, samples: usize) -> Option<f64> {
        let size = samples as f64;
        match self {
            // All samples in the first bin, or all missing, which is past the last.
            Measure::Cdf => Some(size * f64::from(rule.most(samples))),
            // Each in one bin. The fewer bins there are, the less their added samples dilute; a single one has no distance.
            Measure::Kl => Some(size * (size / empty_bin).ln_1p() / (size + 2.0 * empty_bin)),
            Measure::Median | Measure::Thresh => None,
        }
    }

    pub fn distances(self, rule: BinRule, empty_bin: f64) -> Box<dyn Distances> {
        match self {
            Measure::Cdf => Box::new(cdf::CdfDistances::new(rule)),
            Measure::Kl => Box::new(kl::KlDistances::new(rule, empty_bin)),
            Measure::Median => Box::new(median::MedianDistances::default()),
            Measure::Thresh => Box::new(peak::PeakValues::default()),
        }
    }
}

/// The position of one member relative to its threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// On the same side of the threshold as the exact score, or the exact score itself.
    pub score: f32,
    /// The exact score is above the threshold.
    pub is_over: bool,
}

/// Scores of the members of a group, one window after the other.
pub trait Distances: Send {
    /// Takes the next window, which the other functions refer to. It has at least one sample. All columns except the last
    /// `fresh` are the last ones of the previous window; without a previous window, all are fresh.
    fn measure(&mut self, rows: Rows, fresh: usize);

    /// The exact score of each member; NaN if it has none.
    fn scores(&mut self, scores: &mut Vec<f32>);

    /// The distance of each member from the group's middle: the score, or a cheaper approximation.
    fn deviations(&mut self, deviations: &mut Vec<f32>) {
        self.scores(deviations);
    }

    /// Decides for each member whether its score is above its threshold.
    fn decide(&mut self, thresholds: &[f32], decisions: &mut Vec<Decision>) {
        let mut scores = Vec::new();
        self.scores(&mut scores);
        let decide = |(&score, &threshold): (&f32, &f32)| Decision { score, is_over: score > threshold };
        decisions.clear();
        decisions.extend(scores.iter().zip(thresholds).map(decide));
    }

    /// Raises each of `highest` to the score of its member, where that is higher.
    fn raise(&mut self, highest: &mut [f32]) {
        let mut scores = Vec::new();
        self.scores(&mut scores);
        for (highest, score) in highest.iter_mut().zip(scores) {
            *highest = highest.max(score);
        }
    }
}

/// Most members have samples in the window. If most were absent, the present members would be the anomalous ones.
pub fn is_evaluable(rows: Rows) -> bool {
    // Usually the first value decides.
    let is_present = |member: &usize| rows.row(*member).iter().any(|value| !value.is_nan());
    let present = (0..rows.count()).filter(is_present).count();
    2 * present > rows.count()
}
