//! Characteristics of an I/O trace, layer by layer: those of the paper and more.
//! In: requests as the linker reports them. Out: [`Characteristics`]. Always: memory is bounded by open requests, objects
//! and histograms, never by the length of the trace; all layers share one window, from the first ADMIT to the last
//! CALLBACK of the top layer.

mod arrivals;
mod below;
mod boundary;
mod collector;
mod components;
mod concurrency_series;
mod errors;
mod examples;
mod extents;
mod histogram;
mod latency_penalty;
mod layer_collector;
mod levels;
mod load;
mod metrics;
mod objects;
mod op_class;
mod path_time;
mod runs;
mod summarize;
mod think_time;
mod timing;

pub(crate) use collector::Collector;
pub(crate) use components::ComponentMetrics;
pub(crate) use histogram::Histogram;
pub(crate) use metrics::Quality;
pub use metrics::{Characteristics, LayerMetrics};
pub use op_class::OpClass;
pub(crate) use runs::RunShare;
pub(crate) use summarize::{TraceContext, summarize};
