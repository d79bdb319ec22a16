//! Compares two traces metric by metric.

use serde::Serialize;

use crate::characteristics::Characteristics;
use crate::findings::{RuleId, find};
use crate::model::Layer;
use crate::reference::{Harm, Metric, Reference};

/// The name and version of the JSON form.
const SCHEMA: &str = "laggard.trace-diff/1";
/// Smaller relative changes count as none.
const MIN_CHANGE: f64 = 0.1;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub schema: &'static str,
    pub before_seconds: f64,
    pub after_seconds: f64,
    /// Top layer first.
    pub rows: Vec<Row>,
    /// Rules that match the first trace and not the second.
    pub fixed: Vec<RuleId>,
    /// Rules that match the second trace and not the first.
    pub new: Vec<RuleId>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    pub layer: Layer,
    pub metric: Metric,
    pub before: Option<f64>,
    pub after: Option<f64>,
    pub change: Change,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    Same,
    Better,
    Worse,
    /// Neither value is known to be better.
    Different,
}

impl Change {
    pub fn name(self) -> &'static str {
        match self {
            Change::Same => "same",
            Change::Better => "better",
            Change::Worse => "worse",
            Change::Different => "different",
        }
    }
}

pub fn compare(before: &Characteristics, after: &Characteristics, reference: &Reference) -> Difference {
    let value = |all: &Characteristics, layer: Layer, metric: Metric| metric.value(all, all.layer(layer)?);
    let pairs = Layer::ALL.into_iter().flat_map(|layer| Metric::all().map(move |metric| (layer, metric)));
    let rows = pairs.filter_map(|(layer, metric)| {
        let (was, is) = (value(before, layer, metric), value(after, layer, metric));
        was.or(is)?;
        Some(Row { layer, metric, before: was, after: is, change: change(metric, was, is) })
    });
    let rules = |all: &Characteristics| -> Vec<RuleId> {
        find(all, reference).all().map(|finding| finding.id).collect()
    };
    let (first, second) = (rules(before), rules(after));
    let only = |these: &[RuleId], those: &[RuleId]| -> Vec<RuleId> {
        these.iter().filter(|id| !those.contains(id)).copied().collect()
    };
    Difference {
        schema: SCHEMA,
        before_seconds: before.seconds,
        after_seconds: after.seconds,
        rows: rows.collect(),
        fixed: only(&first, &second),
        new: only(&second, &first),
    }
}

fn change(metric: Metric, before: Option<f64>, after: Option<f64>) -> Change {
    let (Some(before), Some(after)) = (before, after) else { return Change::Different };
    if (after - before).abs() <= MIN_CHANGE * before.abs().max(after.abs()) {
        return Change::Same;
    }
    match (metric.harm(), after > before) {
        (Harm::Either, _) => Change::Different,
        (Harm::High, true) | (Harm::Low, false) => Change::Worse,
        (Harm::High, false) | (Harm::Low, true) => Change::Better,
    }
}
