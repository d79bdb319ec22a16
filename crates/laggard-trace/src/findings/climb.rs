//! The paper's bottom-up procedure: an anomaly is looked for at the bottom, where what is normal is best known, and
//! followed upwards to the highest layer that shows it. Where that layer meets the one above, it was introduced.

use serde::Serialize;

use crate::characteristics::Characteristics;
use crate::model::Layer;
use crate::reference::{Label, Labelled, Metric};

/// A figure that is outside its range in one or more layers on top of each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Anomaly {
    /// Which figure.
    pub metric: Metric,
    /// The lowest layer that shows it.
    pub lowest: Layer,
    /// The highest one, in an unbroken row: the highest manifestation layer.
    pub highest: Layer,
    /// The layer above that one, which does not show it; none if there is no such layer.
    pub upper: Option<Layer>,
    /// Layers between the two that were not captured.
    pub blind: Vec<Layer>,
    /// How it is at its worst.
    pub label: Label,
    /// How far outside at its worst.
    pub distance: f64,
    /// The rules that explain it.
    pub explained_by: Vec<String>,
}

/// All anomalies, those that begin at the bottom first.
pub fn climb(all: &Characteristics, labels: &[Labelled]) -> Vec<Anomaly> {
    let mut anomalies: Vec<Anomaly> = Vec::new();
    for one in labels.iter().filter(|one| one.label != Label::Ok) {
        let is_covered = anomalies.iter().any(|anomaly| {
            anomaly.metric == one.metric && (anomaly.highest..=anomaly.lowest).contains(&one.layer)
        });
        if !is_covered {
            anomalies.push(followed(all, labels, one));
        }
    }
    anomalies
}

fn followed(all: &Characteristics, labels: &[Labelled], lowest: &Labelled) -> Anomaly {
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
        blind: blind(upper, highest),
        label: worst.label,
        distance: worst.distance,
        explained_by: Vec::new(),
    }
}

/// Layers between two that were not captured but usually are there. Alternatives (io_uring beside POSIX aio) and
/// layers of other stacks are not missed.
pub fn blind(upper: Option<Layer>, lower: Layer) -> Vec<Layer> {
    let Some(upper) = upper else { return Vec::new() };
    let is_remote = upper <= Layer::Fuse && lower >= Layer::Pfsc && lower <= Layer::Ssys;
    let between = Layer::ALL.into_iter().filter(|layer| *layer > upper && *layer < lower);
    let usual = |layer: &Layer| match layer {
        Layer::Fuse | Layer::Pfsc | Layer::Net | Layer::Pfss => is_remote,
        Layer::Cache => lower >= Layer::Blk && upper == Layer::Sys,
        // Requests of a ring take no system calls of their own.
        Layer::Sys => upper != Layer::Uring,
        Layer::Ssys => upper == Layer::Pfss,
        _ => false,
    };
    between.filter(usual).collect()
}
