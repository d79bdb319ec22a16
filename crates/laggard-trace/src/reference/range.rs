//! Expected ranges of metrics, their sources, and the evaluation of a value.

use serde::{Deserialize, Serialize};

use super::metric::{Harm, Metric};
use crate::model::Class;

/// The source of a range, the most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Measured on the device itself.
    Calibrated,
    /// From runs that are known to be good.
    Baseline,
    /// From the paper.
    Paper,
    /// A built-in default.
    Default,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Source::Calibrated => "calibrated",
            Source::Baseline => "baseline",
            Source::Paper => "paper",
            Source::Default => "default",
        }
    }
}

/// The expected range of a metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    pub class: Class,
    /// None: all layers of the class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<crate::model::Layer>,
    pub metric: Metric,
    /// From and to.
    pub ok: [f64; 2],
    /// Values outside are critical.
    pub crit: [f64; 2],
    pub source: Source,
    /// Number of measurements.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n: u64,
    /// Of the measurements.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub date: String,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Label {
    Ok,
    Warn,
    Crit,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Evaluation {
    pub(super) label: Label,
    /// The distance from the range divided by its width; negative if below, 0 inside.
    pub(super) distance: f64,
}

impl Range {
    pub(super) fn evaluate(&self, value: f64) -> Evaluation {
        let [low, high] = self.ok;
        let is_harmful = match self.metric.harm() {
            Harm::Low => value < low,
            Harm::High => value > high,
            Harm::Either => value < low || value > high,
        };
        if !is_harmful {
            return Evaluation { label: Label::Ok, distance: 0.0 };
        }
        let beyond = if value < low { value - low } else { value - high };
        let is_critical = value < self.crit[0] || value > self.crit[1];
        let label = if is_critical { Label::Crit } else { Label::Warn };
        Evaluation { label, distance: beyond / width(self.ok) }
    }
}

/// The width of a range; of a range without an upper bound, its lower bound.
fn width([low, high]: [f64; 2]) -> f64 {
    let width = if high.is_finite() { high - low } else { low.abs() };
    if width > 0.0 { width } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(metric: Metric, ok: [f64; 2], crit: [f64; 2]) -> Range {
        let (source, n, date) = (Source::Default, 0, String::new());
        Range { class: Class::Os, layer: None, metric, ok, crit, source, n, date }
    }

    #[test]
    fn a_value_is_evaluated_by_its_distance_from_the_range() {
        let split = range(Metric::Split, [0.0, 4.0], [0.0, 16.0]);
        assert_eq!(split.evaluate(3.0), Evaluation { label: Label::Ok, distance: 0.0 });
        assert_eq!(split.evaluate(6.0), Evaluation { label: Label::Warn, distance: 0.5 });
        assert_eq!(split.evaluate(32.0), Evaluation { label: Label::Crit, distance: 7.0 });
    }

    #[test]
    fn values_beyond_the_harmless_end_are_ok() {
        let contiguity = range(Metric::Contiguity, [4.0, f64::INFINITY], [2.0, f64::INFINITY]);
        assert_eq!(contiguity.evaluate(8192.0).label, Label::Ok);
        assert_eq!(contiguity.evaluate(3.0), Evaluation { label: Label::Warn, distance: -0.25 });
        assert_eq!(contiguity.evaluate(1.1).label, Label::Crit);
    }
}
