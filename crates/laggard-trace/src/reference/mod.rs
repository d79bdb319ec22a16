//! Expected values: measured on the device, taken from good runs, or built-in defaults.
//! In: a `ref.toml`, or nothing. Out: [`Reference`], which labels metrics. Always: the most trusted range applies.

mod baseline;
mod curve;
mod defaults;
mod file;
mod metric;
mod range;

pub use baseline::TooFewRuns;
pub use curve::{Curve, Point};
pub(crate) use defaults::LONG_STREAM;
pub use file::ReferenceError;
pub(crate) use metric::Harm;
pub use metric::Metric;
pub use range::{Label, Range, Source};

use serde::Serialize;

use crate::characteristics::{Characteristics, LayerMetrics};
use crate::model::Layer;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    /// In addition to the defaults.
    pub ranges: Vec<Range>,
    pub curve: Curve,
}

/// A metric of a layer with its evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Labelled {
    pub layer: Layer,
    pub metric: Metric,
    pub value: f64,
    /// The expected range; none: no bound.
    pub ok: [Option<f64>; 2],
    pub source: Source,
    pub label: Label,
    /// The distance from the range divided by its width; negative if below.
    pub distance: f64,
}

impl Reference {
    /// The most trusted range.
    fn range(&self, metric: Metric, all: &Characteristics, layer: &LayerMetrics) -> Option<Range> {
        let fits = |range: &&Range| {
            range.metric == metric
                && range.class == layer.class
                && range.layer.is_none_or(|only| only == layer.layer)
        };
        let known = self.ranges.iter().filter(fits).min_by_key(|range| range.source).cloned();
        known.or_else(|| defaults::default(metric, all, layer))
    }

    /// Labels all metrics of all layers, bottom layer first.
    pub(crate) fn label(&self, all: &Characteristics) -> Vec<Labelled> {
        let layers = all.layers.iter().rev();
        let pairs = layers.flat_map(|layer| Metric::all().map(move |metric| (layer, metric)));
        pairs.filter_map(|(layer, metric)| self.labelled(all, layer, metric)).collect()
    }

    fn labelled(&self, all: &Characteristics, layer: &LayerMetrics, metric: Metric) -> Option<Labelled> {
        let value = metric.value(all, layer).filter(|value| value.is_finite())?;
        let range = self.range(metric, all, layer)?;
        let range::Evaluation { label, distance } = range.evaluate(value);
        let ok = range.ok.map(|end| Some(end).filter(|end| end.is_finite()));
        Some(Labelled { layer: layer.layer, metric, value, ok, source: range.source, label, distance })
    }
}
