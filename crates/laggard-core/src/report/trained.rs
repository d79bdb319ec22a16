//! What training gave, to be looked at before it is relied on.

use super::Warning;
use crate::methods::papers::thresholds::{GroupThresholds, Origin};
use crate::model::metric::{Metric, MetricId};
use crate::tables::envelope::Envelope;

/// All that is told of a training.
#[derive(Clone, Debug)]
pub struct Trained {
    /// On what.
    pub origin: Origin,
    /// What was learnt, for each metric of each group.
    pub lessons: Vec<Lesson>,
    /// What speaks against it.
    pub warnings: Vec<Warning>,
    /// What the pictures are drawn from.
    pub pictures: Vec<Superimposed>,
}

/// What was learnt of one metric of a group, in a few numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// The group.
    pub group: String,
    /// The metric.
    pub metric: MetricId,
    /// How many thresholds there are; 1 where one is for all.
    pub thresholds: usize,
    /// On how many windows.
    pub windows: usize,
    /// The lowest threshold.
    pub lowest: f64,
    /// The one in the middle.
    pub median: f64,
    /// The highest one.
    pub highest: f64,
    /// Who has a much higher one than the others, highest first.
    pub standing_out: Vec<StandingOut>,
}

/// A component that was far from its peers during training.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingOut {
    /// Who.
    pub component: String,
    /// Its threshold.
    pub threshold: f64,
    /// How many times the one in the middle that is.
    pub ratio: f64,
}

/// One metric of all members of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Superimposed {
    /// The group.
    pub group: String,
    /// The metric.
    pub metric: &'static Metric,
    /// The members.
    pub names: Vec<String>,
    /// Their values.
    pub envelope: Envelope,
    /// Those to be named: indices of members.
    pub standing_out: Vec<usize>,
}

/// A threshold so many times the one in the middle stands out. A threshold follows the one worst window of a component,
/// and those of calm peers easily differ by a factor of two.
const STANDS_OUT: f64 = 3.0;
const MOST_STANDING_OUT: usize = 4;

impl Lesson {
    /// In a few numbers.
    pub fn of(learnt: &GroupThresholds) -> Lesson {
        let mut numbers: Vec<f64> = learnt.components.values().copied().chain(learnt.common).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        let at = |place: usize| numbers.get(place).copied().unwrap_or(f64::NAN);
        let median = at(numbers.len() / 2);
        Lesson {
            group: learnt.name.clone(),
            metric: learnt.metric,
            thresholds: numbers.len(),
            windows: learnt.windows,
            lowest: at(0),
            median,
            highest: at(numbers.len().saturating_sub(1)),
            standing_out: standing_out(learnt, median),
        }
    }
}

fn standing_out(learnt: &GroupThresholds, median: f64) -> Vec<StandingOut> {
    let one = |(component, threshold): (&String, &f64)| StandingOut {
        component: component.clone(),
        threshold: *threshold,
        ratio: threshold / median,
    };
    let mut all: Vec<StandingOut> =
        learnt.components.iter().map(one).filter(|one| one.ratio >= STANDS_OUT).collect();
    all.sort_by(|a, b| b.threshold.total_cmp(&a.threshold));
    all.truncate(MOST_STANDING_OUT);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::component::Kind;

    fn lesson(numbers: &[(&str, f64)]) -> Lesson {
        Lesson::of(&GroupThresholds {
            name: "attachments".into(),
            kind: Kind::ATTACHMENT,
            metric: MetricId::Await,
            windows: 191,
            common: None,
            components: numbers.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect(),
        })
    }

    #[test]
    fn who_needs_three_times_the_threshold_of_the_others_stands_out() {
        let lesson = lesson(&[("a", 10.0), ("b", 12.0), ("c", 11.0), ("d", 44.0), ("e", 35.0), ("f", 12.0)]);
        assert_eq!((lesson.lowest, lesson.median, lesson.highest), (10.0, 12.0, 44.0));
        let names: Vec<&str> = lesson.standing_out.iter().map(|one| one.component.as_str()).collect();
        assert_eq!(names, ["d"]);
    }

    #[test]
    fn nothing_learnt_is_no_number() {
        let lesson = lesson(&[]);
        assert!(lesson.median.is_nan() && lesson.standing_out.is_empty());
    }
}
