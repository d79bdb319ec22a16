//! The paper's bottom-up procedure: anomalies are searched from the bottom, where normal values are known best, and
//! followed upwards to the highest layer that shows them. The problem begins where that layer meets the one above.

use serde::Serialize;

use super::rules::RuleId;
use crate::characteristics::Characteristics;
use crate::model::Layer;
use crate::reference::{Label, Labelled, Metric};

/// A metric outside its range in one or more adjacent layers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Anomaly {
    pub metric: Metric,
    pub lowest: Layer,
    /// The highest layer of an unbroken row: the highest manifestation layer.
    pub highest: Layer,
    /// The layer above, which does not show the anomaly.
    pub upper: Option<Layer>,
    /// Layers between `upper` and `highest` that were not captured.
    #[serde(rename = "blind")]
    pub uncaptured: Vec<Layer>,
    /// The worst label.
    pub label: Label,
    /// The largest distance from the range.
    pub distance: f64,
    pub explained_by: Vec<RuleId>,
}

/// All anomalies, the lowest first.
pub(super) fn find_anomalies(all: &Characteristics, labels: &[Labelled]) -> Vec<Anomaly> {
    let mut anomalies: Vec<Anomaly> = Vec::new();
    for one in labels.iter().filter(|one| one.label != Label::Ok) {
        let is_covered = anomalies.iter().any(|anomaly| {
            anomaly.metric == one.metric && (anomaly.highest..=anomaly.lowest).contains(&one.layer)
        });
        if !is_covered {
            anomalies.push(follow_upwards(all, labels, one));
        }
    }
    anomalies
}

fn follow_upwards(all: &Characteristics, labels: &[Labelled], lowest: &Labelled) -> Anomaly {
    let mut worst = lowest;
    let mut highest = lowest.layer;
    while let Some(above) = all.above(highest)
        && let Some(label) = labels.iter().find(|one| one.layer == above.layer && one.metric == lowest.metric)
        && label.label != Label::Ok
        && (label.distance < 0.0) == (lowest.distance < 0.0)
    {
        highest = above.layer;
        if label.distance.abs() > worst.distance.abs() {
            worst = label;
        }
    }
    let upper = all.above(highest).map(|above| above.layer);
    Anomaly {
        metric: lowest.metric,
        lowest: lowest.layer,
        highest,
        upper,
        uncaptured: uncaptured_between(upper, highest),
        label: worst.label,
        distance: worst.distance,
        explained_by: Vec::new(),
    }
}

/// Layers between two that were not captured but are usually present. Alternatives (io_uring and POSIX aio) and layers
/// of other stacks are not listed.
pub(super) fn uncaptured_between(upper: Option<Layer>, lower: Layer) -> Vec<Layer> {
    let Some(upper) = upper else { return Vec::new() };
    let is_remote = upper <= Layer::Fuse && lower >= Layer::Pfsc && lower <= Layer::Ssys;
    let between = Layer::ALL.into_iter().filter(|layer| *layer > upper && *layer < lower);
    let usual = |layer: &Layer| match layer {
        Layer::Fuse | Layer::Pfsc | Layer::Net | Layer::Pfss => is_remote,
        Layer::Cache => lower >= Layer::Blk && upper == Layer::Sys,
        // io_uring requests make no system calls of their own.
        Layer::Sys => upper != Layer::Uring,
        Layer::Ssys => upper == Layer::Pfss,
        _ => false,
    };
    between.filter(usual).collect()
}
