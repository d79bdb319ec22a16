//! Ranges in which figures are to be, where they come from, and how far outside a value is.

use serde::{Deserialize, Serialize};

use super::metric::{Harm, Metric};
use crate::model::Class;

/// Where a range comes from, the most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Measured on the device itself.
    Calibrated,
    /// From runs that are known to be good.
    Baseline,
    /// From the paper.
    Paper,
    /// Our own rule of thumb.
    Default,
}

impl Source {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Source::Calibrated => "calibrated",
            Source::Baseline => "baseline",
            Source::Paper => "paper",
            Source::Default => "default",
        }
    }
}

/// What a value is to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Of which layers.
    pub class: Class,
    /// Of one layer only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<crate::model::Layer>,
    /// Of which figure.
    pub metric: Metric,
    /// What is fine, from and to.
    pub ok: [f64; 2],
    /// Beyond this it is critical.
    pub crit: [f64; 2],
    /// Where it comes from.
    pub source: Source,
    /// From how many measurements.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n: u64,
    /// When they were made.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub date: String,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// How a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Label {
    /// In range.
    Ok,
    /// Outside.
    Warn,
    /// Far outside.
    Crit,
}

impl Label {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Label::Ok => "OK",
            Label::Warn => "WARN",
            Label::Crit => "CRIT",
        }
    }
}

/// A value and how it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// How it is.
    pub label: Label,
    /// How far outside what is fine, by the width of that; negative if below. 0 inside.
    pub distance: f64,
}

impl Range {
    /// How a value is.
    pub fn judge(&self, value: f64) -> Judged {
        let [low, high] = self.ok;
        let is_harmful = match self.metric.harm() {
            Harm::Low => value < low,
            Harm::High => value > high,
            Harm::Either => value < low || value > high,
        };
        if !is_harmful {
            return Judged { label: Label::Ok, distance: 0.0 };
        }
        let beyond = if value < low { value - low } else { value - high };
        let is_critical = value < self.crit[0] || value > self.crit[1];
        let label = if is_critical { Label::Crit } else { Label::Warn };
        Judged { label, distance: beyond / width(self.ok) }
    }
}

/// The width of a range; of one without an end, its begin.
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
    fn a_value_is_judged_by_how_far_outside_it_is() {
        let split = range(Metric::Split, [0.0, 4.0], [0.0, 16.0]);
        assert_eq!(split.judge(3.0), Judged { label: Label::Ok, distance: 0.0 });
        assert_eq!(split.judge(6.0), Judged { label: Label::Warn, distance: 0.5 });
        assert_eq!(split.judge(32.0), Judged { label: Label::Crit, distance: 7.0 });
    }

    #[test]
    fn more_than_enough_does_no_harm() {
        let contiguity = range(Metric::Contiguity, [4.0, f64::INFINITY], [2.0, f64::INFINITY]);
        assert_eq!(contiguity.judge(8192.0).label, Label::Ok);
        assert_eq!(contiguity.judge(3.0), Judged { label: Label::Warn, distance: -0.25 });
        assert_eq!(contiguity.judge(1.1).label, Label::Crit);
    }
}
