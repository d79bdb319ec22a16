//! How unlike its peers a component is, in one window.
//! In: the smoothed samples of a window, a row for each member of the group. Out: scores, or verdicts at given
//! thresholds. Always: the order of the members changes no score, and verdicts are those of all pairs.

pub mod bins;
pub mod cdf;
mod curves;
pub mod kl;
pub mod median;
pub mod naive;
pub mod pairs;
pub mod peak;
mod pivots;

use laggard_kernels::rows::Rows;
use serde::{Deserialize, Serialize};

use bins::BinRule;

/// What is taken for the distance of two components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// The area between their cumulative histograms (Intrepid paper, 4.2).
    Cdf,
    /// The symmetric Kullback-Leibler divergence of their histograms (FAST '10 paper, 10.1).
    Kl,
    /// How far they are from the group's median at the same instants (Intrepid paper, 5.3).
    Median,
    /// Their highest sample; no comparison with anyone (Intrepid paper, 5.3).
    Thresh,
}

impl Measure {
    /// All of them.
    pub const ALL: [Measure; 4] = [Measure::Cdf, Measure::Kl, Measure::Median, Measure::Thresh];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Measure::Cdf => "cdf",
            Measure::Kl => "kl",
            Measure::Median => "median",
            Measure::Thresh => "thresh",
        }
    }

    /// The measure with that word.
    pub fn named(word: &str) -> Option<Measure> {
        Measure::ALL.into_iter().find(|measure| measure.as_str() == word)
    }

    /// Ready to look at windows of a group.
    pub fn distances(self, rule: BinRule, empty_bin: f64) -> Box<dyn Distances> {
        match self {
            Measure::Cdf => Box::new(cdf::CdfDistances::new(rule)),
            Measure::Kl => Box::new(kl::KlDistances::new(rule, empty_bin)),
            Measure::Median => Box::new(median::MedianDistances::default()),
            Measure::Thresh => Box::new(peak::PeakValues::default()),
        }
    }
}

/// What is said of one member at a given threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// On the same side of the threshold as the exact score, and close to it where that is not known.
    pub score: f32,
    /// Whether the exact score is above the threshold.
    pub is_over: bool,
}

/// Scores of the members of a group, one window after the other.
pub trait Distances: Send {
    /// Looks at a window: everything below speaks of it. There is at least one sample. All but the last `fresh`
    /// columns are those that the window looked at before ended with; where none was, all columns are fresh.
    fn look(&mut self, rows: Rows, fresh: usize);

    /// The exact score of each member; NaN where there is none.
    fn scores(&mut self, scores: &mut Vec<f32>);

    /// How far each member is from the group's middle: the scores, or something close that costs less.
    fn deviations(&mut self, deviations: &mut Vec<f32>) {
        self.scores(deviations);
    }

    /// For each member whether its score is above its threshold.
    fn settle(&mut self, thresholds: &[f32], settled: &mut Vec<Settled>) {
        let mut scores = Vec::new();
        self.scores(&mut scores);
        let settle = |(&score, &threshold): (&f32, &f32)| Settled { score, is_over: score > threshold };
        settled.clear();
        settled.extend(scores.iter().zip(thresholds).map(settle));
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

/// Whether a window can be judged: most members have samples in it. Where most are silent, those who are not would
/// be the odd ones, and nobody is to be blamed for speaking.
pub fn is_judgeable(rows: Rows) -> bool {
    // One value of a row is mostly enough.
    let is_present = |member: &usize| rows.row(*member).iter().any(|value| !value.is_nan());
    let present = (0..rows.count()).filter(is_present).count();
    2 * present > rows.count()
}
