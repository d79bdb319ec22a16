//! Two traces side by side, figure by figure: what has moved?

use serde::Serialize;

use crate::characteristics::Characteristics;
use crate::model::Layer;
use crate::reference::metric::Harm;
use crate::reference::{Metric, Reference};

/// The name and version of the JSON form.
pub const SCHEMA: &str = "laggard.trace-diff/1";
/// Figures that moved by less are left as they were.
const LEAST_CHANGE: f64 = 0.1;

/// What has moved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// How long the first took.
    pub before_seconds: f64,
    /// How long the second took.
    pub after_seconds: f64,
    /// Figures of both, top layer first.
    pub rows: Vec<Row>,
    /// Rules that spoke for the first and not for the second.
    pub mended: Vec<String>,
    /// Rules that spoke for the second and not for the first.
    pub new: Vec<String>,
}

/// One figure of a layer in both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Which layer.
    pub layer: Layer,
    /// Which figure.
    pub metric: Metric,
    /// Before.
    pub before: Option<f64>,
    /// After.
    pub after: Option<f64>,
    /// Which way it moved.
    pub change: Change,
}

/// Which way a figure moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// By less than a tenth.
    Same,
    /// For the better.
    Better,
    /// For the worse.
    Worse,
    /// Neither is known to be better.
    Different,
}

impl Change {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Change::Same => "same",
            Change::Better => "better",
            Change::Worse => "worse",
            Change::Different => "different",
        }
    }
}

/// Compares two traces.
pub fn compare(before: &Characteristics, after: &Characteristics, reference: &Reference) -> Difference {
    let value = |all: &Characteristics, layer: Layer, metric: Metric| metric.value(all, all.layer(layer)?);
    let pairs = Layer::ALL.into_iter().flat_map(|layer| Metric::ALL.map(|metric| (layer, metric)));
    let rows = pairs.filter_map(|(layer, metric)| {
        let (was, is) = (value(before, layer, metric), value(after, layer, metric));
        was.or(is)?;
        Some(Row { layer, metric, before: was, after: is, change: change(metric, was, is) })
    });
    let said = |all: &Characteristics| -> Vec<String> {
        let findings = crate::findings::find(all, reference).findings;
        let all = findings.iter().flat_map(|one| std::iter::once(one).chain(&one.also));
        all.map(|one| one.id.to_owned()).collect()
    };
    let (first, second) = (said(before), said(after));
    let without = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|id| !those.contains(id)).cloned().collect()
    };
    Difference {
        schema: SCHEMA,
        before_seconds: before.seconds,
        after_seconds: after.seconds,
        rows: rows.collect(),
        mended: without(&first, &second),
        new: without(&second, &first),
    }
}

fn change(metric: Metric, before: Option<f64>, after: Option<f64>) -> Change {
    let (Some(before), Some(after)) = (before, after) else { return Change::Different };
    if (after - before).abs() <= LEAST_CHANGE * before.abs().max(after.abs()) {
        return Change::Same;
    }
    match (metric.harm(), after > before) {
        (Harm::Either, _) => Change::Different,
        (Harm::High, true) | (Harm::Low, false) => Change::Worse,
        (Harm::High, false) | (Harm::Low, true) => Change::Better,
    }
}
