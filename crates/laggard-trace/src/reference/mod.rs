//! What figures are to be: measured on the device, taken from good runs, or rules of thumb.
//! In: a `ref.toml`, or nothing. Out: [`Reference`], which labels figures. Always: the most trusted range counts.

mod baseline;
pub mod curve;
mod defaults;
mod file;
pub mod metric;
pub mod range;

pub use baseline::{FEWEST_RUNS, TooFew};
pub use curve::{Curve, Point};
pub use defaults::LONG_STREAM;
pub use file::ReferenceError;
pub use metric::Metric;
pub use range::{Judged, Label, Range, Source};

use serde::Serialize;

use crate::characteristics::figures::{Characteristics, LayerFigures};
use crate::model::Layer;

/// What figures are to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    /// Beside the rules of thumb.
    pub ranges: Vec<Range>,
    /// What the device can do.
    pub curve: Curve,
}

/// A figure of a layer, and how it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Labelled {
    /// Of which layer.
    pub layer: Layer,
    /// Which figure.
    pub metric: Metric,
    /// Its value.
    pub value: f64,
    /// What is fine; null: no end.
    pub ok: [Option<f64>; 2],
    /// Where that comes from.
    pub source: Source,
    /// How it is.
    pub label: Label,
    /// How far outside, by the width of what is fine.
    pub distance: f64,
}

impl Reference {
    /// The range for a figure of a layer: the most trusted one.
    pub fn range(&self, metric: Metric, all: &Characteristics, layer: &LayerFigures) -> Option<Range> {
        let fits = |range: &&Range| {
            range.metric == metric
                && range.class == layer.class
                && range.layer.is_none_or(|only| only == layer.layer)
        };
        let known = self.ranges.iter().filter(fits).min_by_key(|range| range.source).cloned();
        known.or_else(|| defaults::default(metric, all, layer))
    }

    /// Labels all figures of all layers, bottom first.
    pub fn label(&self, all: &Characteristics) -> Vec<Labelled> {
        let layers = all.layers.iter().rev();
        let pairs = layers.flat_map(|layer| Metric::ALL.into_iter().map(move |metric| (layer, metric)));
        pairs.filter_map(|(layer, metric)| self.labelled(all, layer, metric)).collect()
    }

    fn labelled(&self, all: &Characteristics, layer: &LayerFigures, metric: Metric) -> Option<Labelled> {
        let value = metric.value(all, layer).filter(|value| value.is_finite())?;
        let range = self.range(metric, all, layer)?;
        let Judged { label, distance } = range.judge(value);
        let ok = range.ok.map(|end| Some(end).filter(|end| end.is_finite()));
        Some(Labelled { layer: layer.layer, metric, value, ok, source: range.source, label, distance })
    }
}
