//! Thresholds from a calm recording, for the papers' methods.
//! In: a recording. Out: [`TrainingResult`], to be checked before it is used. Always: one faulty component affects only
//! its own threshold.

mod learner;

pub use learner::{Learner, LearntThresholds, PicturedTime, Trainable};

use crate::diagnosis::Warning;
use crate::methods::papers::thresholds::{GroupThresholds, Origin};
use crate::model::metric::{Metric, MetricId};
use crate::tables::value_ranges::Envelope;

#[derive(Clone, Debug)]
pub struct TrainingResult {
    pub origin: Origin,
    /// One for each metric of each group.
    pub summaries: Vec<ThresholdSummary>,
    pub warnings: Vec<Warning>,
    pub pictures: Vec<GroupPicture>,
}

/// The thresholds of one metric of a group, in a few numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdSummary {
    pub group: String,
    pub metric: MetricId,
    /// The number of thresholds; 1 where all members share one.
    pub thresholds: usize,
    /// The number of windows that they were learnt from.
    pub windows: usize,
    pub lowest: f64,
    pub median: f64,
    pub highest: f64,
    /// Components with much higher thresholds than the others, highest first.
    pub outliers: Vec<Outlier>,
}

/// A component that was far from its peers during training.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier {
    pub component: String,
    pub threshold: f64,
    /// The threshold as a multiple of the median.
    pub ratio: f64,
}

/// One metric of all members of a group over time.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupPicture {
    pub group: String,
    pub metric: &'static Metric,
    pub names: Vec<String>,
    pub envelope: Envelope,
    /// Indices of the members to be named.
    pub outliers: Vec<usize>,
}

/// A threshold of an outlier is at least this multiple of the median. A threshold follows the worst window of a component,
/// and those of calm peers easily differ by a factor of two.
const OUTLIER_RATIO: f64 = 3.0;
const MOST_OUTLIERS: usize = 4;

impl ThresholdSummary {
    pub fn of(learnt: &GroupThresholds) -> ThresholdSummary {
        let mut numbers: Vec<f64> = learnt.components.values().copied().chain(learnt.common).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        let at = |place: usize| numbers.get(place).copied().unwrap_or(f64::NAN);
        let median = at(numbers.len() / 2);
        ThresholdSummary {
            group: learnt.name.clone(),
            metric: learnt.metric,
            thresholds: numbers.len(),
            windows: learnt.windows,
            lowest: at(0),
            median,
            highest: at(numbers.len().saturating_sub(1)),
            outliers: outliers(learnt, median),
        }
    }
}

fn outliers(learnt: &GroupThresholds, median: f64) -> Vec<Outlier> {
    let one = |(component, threshold): (&String, &f64)| Outlier {
        component: component.clone(),
        threshold: *threshold,
        ratio: threshold / median,
    };
    let mut all: Vec<Outlier> =
        learnt.components.iter().map(one).filter(|one| one.ratio >= OUTLIER_RATIO).collect();
    all.sort_by(|a, b| b.threshold.total_cmp(&a.threshold));
    all.truncate(MOST_OUTLIERS);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::component::Kind;

    fn summary(numbers: &[(&str, f64)]) -> ThresholdSummary {
        ThresholdSummary::of(&GroupThresholds {
            name: "attachments".into(),
            kind: Kind::ATTACHMENT,
            metric: MetricId::Await,
            windows: 191,
            common: None,
            components: numbers.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect(),
        })
    }

    #[test]
    fn a_component_with_three_times_the_median_threshold_is_an_outlier() {
        let summary =
            summary(&[("a", 10.0), ("b", 12.0), ("c", 11.0), ("d", 44.0), ("e", 35.0), ("f", 12.0)]);
        assert_eq!((summary.lowest, summary.median, summary.highest), (10.0, 12.0, 44.0));
        let names: Vec<&str> = summary.outliers.iter().map(|one| one.component.as_str()).collect();
        assert_eq!(names, ["d"]);
    }

    #[test]
    fn without_thresholds_there_is_no_median() {
        let summary = summary(&[]);
        assert!(summary.median.is_nan() && summary.outliers.is_empty());
    }
}
