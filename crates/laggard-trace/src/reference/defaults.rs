//! The built-in ranges.

use super::metric::Metric;
use super::range::{Range, Source};
use crate::characteristics::{Characteristics, LayerMetrics};
use crate::model::{Class, Layer};

const ANY: f64 = f64::INFINITY;
/// Layers with fewer requests are not evaluated.
const MIN_REQUESTS: u64 = 16;
/// In mean requests: shorter streams need not be sequential.
pub(crate) const LONG_STREAM: f64 = 16.0;

/// None where the metric does not apply to the layer.
pub(super) fn default(metric: Metric, all: &Characteristics, layer: &LayerMetrics) -> Option<Range> {
    if layer.load.requests < MIN_REQUESTS && metric != Metric::Errors {
        return None;
    }
    let (ok, crit, source) = bounds(metric, all, layer)?;
    let class = layer.class;
    Some(Range { class, layer: Some(layer.layer), metric, ok, crit, source, n: 0, date: String::new() })
}

type Bounds = ([f64; 2], [f64; 2], Source);

fn bounds(metric: Metric, all: &Characteristics, layer: &LayerMetrics) -> Option<Bounds> {
    let at_least = |warn: f64, crit: f64| Some(([warn, ANY], [crit, ANY], Source::Default));
    let at_most = |warn: f64, crit: f64| Some(([0.0, warn], [0.0, crit], Source::Default));
    let above = all.above(layer.layer);
    match metric {
        Metric::MaxConcurrency if layer.layer == Layer::Dev => {
            let enough = (above?.load.concurrency.avg / 2.0).clamp(1.0, 4.0);
            at_least(enough, enough / 2.0)
        }
        Metric::ConcurrencyRatio => at_least(0.5, 0.25),
        Metric::QueueRatio if layer.class == Class::Lib => at_most(2.0, 5.0),
        Metric::QueueRatio if layer.class == Class::Queue => at_most(1.0, 3.0),
        Metric::Contiguity if has_long_streams(layer) => at_least(4.0, 2.0),
        Metric::ZeroSeek if has_long_streams(layer) => at_least(0.5, 0.2),
        Metric::Idle if layer.layer == Layer::Pfss => {
            let is_loaded = all.top()?.load.concurrency.avg >= 0.8;
            if is_loaded { at_most(0.5, 0.9) } else { None }
        }
        Metric::EarlyAck if is_small_writes_at_server(all, layer) => at_least(0.5, 0.1),
        Metric::MetadataPerData => at_most(0.1, 0.5),
        Metric::Split => at_most(4.0, 16.0),
        Metric::ByteAmplification => Some(([0.9, 1.2], [0.5, 2.0], Source::Default)),
        Metric::SyncPerData => at_most(0.05, 0.2),
        Metric::SlowComponent => at_most(2.0, 4.0),
        Metric::Redundancy => at_most(1.5, 4.0),
        Metric::Errors => Some(([0.0, 0.0], [0.0, 0.0], Source::Default)),
        _ => None,
    }
}

fn has_long_streams(layer: &LayerMetrics) -> bool {
    layer.streams().avg_bytes >= LONG_STREAM * layer.load.size_bytes.avg && layer.load.size_bytes.avg > 0.0
}

/// Writes of less than a mebibyte, which a client could buffer.
fn is_small_writes_at_server(all: &Characteristics, layer: &LayerMetrics) -> bool {
    let client = all.boundary_above(layer.layer).map(|one| one.upper).filter(|upper| *upper <= Layer::Fuse);
    let size = client.and_then(|client| all.layer(client)).map(|client| client.load.size_bytes.avg);
    matches!(layer.layer, Layer::Pfss | Layer::Ssys) && size.is_some_and(|size| size < 1_048_576.0)
}
