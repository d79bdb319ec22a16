//! All characteristics of a trace: `layers`, `boundaries` and `quality` of the JSON form.

use serde::Serialize;

use super::arrivals::Burstiness;
use super::below::BelowMetrics;
use super::boundary::BoundaryMetrics;
use super::components::ComponentComparison;
use super::concurrency_series::ConcurrencySeries;
use super::errors::ErrorMetrics;
use super::examples::Examples;
use super::extents::Streams;
use super::histogram::Summary;
use super::latency_penalty::LatencyPenalty;
use super::load::Load;
use super::objects::ObjectMetrics;
use super::op_class::OpClass;
use super::runs::Runs;
use super::timing::TimingMetrics;
use crate::model::{Class, Layer, MetaOp};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Characteristics {
    /// From the first ADMIT to the last CALLBACK of the top layer, on the first host's clock.
    pub from_ns: u64,
    pub to_ns: u64,
    pub seconds: f64,
    /// Top layer first.
    pub layers: Vec<LayerMetrics>,
    pub boundaries: Vec<BoundaryMetrics>,
    pub quality: Quality,
    #[serde(skip)]
    pub examples: Examples,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerMetrics {
    pub layer: Layer,
    pub class: Class,
    /// The layer's name as its software calls it, such as `glibc`.
    pub title: String,
    pub load: Load,
    pub by_op: Vec<(OpClass, Load)>,
    /// Empty for a single host.
    pub by_host: Vec<(String, Load)>,
    /// Most bytes first; not all.
    pub objects: Vec<ObjectMetrics>,
    pub object_count: usize,
    /// Requests from ISSUE to COMPLT.
    pub below: BelowMetrics,
    /// The maximum concurrency of a thread.
    pub max_per_thread: u32,
    pub threads: usize,
    pub activity: Activity,
    pub timing: TimingMetrics,
    /// The share of top requests' time in which this is the deepest layer with a part of them.
    pub path_share: f64,
    /// Of data requests in the order of ISSUE.
    pub runs: Runs,
    pub read_streams: Streams,
    pub write_streams: Streams,
    /// The mean number of processes that read a byte; none where processes are unknown.
    pub sharing: Option<f64>,
    /// Devices or servers.
    #[serde(rename = "members")]
    pub components: ComponentComparison,
    pub burstiness: Burstiness,
    pub errors: ErrorMetrics,
    pub metadata: Metadata,
    /// Of threads.
    pub think_ns: Summary,
    pub sync: SyncMetrics,
    /// Requests that are not aligned to pages.
    pub misaligned: LatencyPenalty,
    /// Requests that do not continue the previous one (queues and devices).
    pub apart: LatencyPenalty,
    /// The share of data requests that no lower layer saw; none where there is no lower layer.
    pub cached_share: Option<f64>,
    /// Bytes read above divided by bytes read here, where some are read ahead.
    pub readahead_efficiency: Option<f64>,
    /// The share of data requests whose parent was found; none for the top layer.
    pub link_rate: Option<f64>,
    /// The relative deviation of the mean concurrency from rate times latency (Little's law).
    pub little_error: f64,
    /// Requests of other programs, which no other metric includes.
    pub left_out: u64,
    /// Requests whose end is not in the trace.
    pub partial: u64,
    #[serde(skip)]
    pub series: ConcurrencySeries,
}

/// States of a layer as shares of the window. They sum to one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Activity {
    pub busy: f64,
    /// No requests, and none in the layer above.
    pub starved: f64,
    /// No requests, although the layer above has some.
    pub held: f64,
    /// No requests, and only syncs in the layer above.
    pub syncing: f64,
    /// No requests in the top layer.
    pub outside: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Metadata {
    pub requests: u64,
    /// Per data request of the same layer.
    pub per_data: f64,
    /// Per data request of the layer above.
    pub per_data_above: Option<f64>,
    pub by_op: Vec<(MetaOp, u64)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SyncMetrics {
    /// Syncs per data request.
    pub per_data: f64,
    /// Syncs per write.
    pub per_write: f64,
    /// The share of the window in which one was open.
    pub time_share: f64,
}

/// Measures of how reliable the trace is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Quality {
    /// Events used.
    pub events: u64,
    /// The share of events that were lost or could not be parsed.
    pub loss: f64,
    /// Events lost, as the source counts them.
    pub lost: u64,
    /// Events earlier than the one before.
    pub out_of_order: u64,
    /// Ends without a begin.
    pub without_begin: u64,
    /// Begins without an end.
    pub without_end: u64,
    /// Requests whose times are not in order.
    pub disordered: u64,
    /// The file has no footer.
    pub is_cut_short: bool,
    /// The requests that count, in words.
    pub scope: String,
    /// The largest possible clock difference between hosts.
    pub clock_error_ns: u64,
    /// The measured cost of capturing per request of the top layer.
    pub overhead_ns: Option<f64>,
    pub throttled: Throttled,
}

/// Writers that the kernel throttled at the dirty limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Throttled {
    pub count: u64,
    /// In total.
    pub seconds: f64,
}

impl Characteristics {
    pub fn layer(&self, layer: Layer) -> Option<&LayerMetrics> {
        self.layers.iter().find(|metrics| metrics.layer == layer)
    }

    pub fn top(&self) -> Option<&LayerMetrics> {
        self.layers.first()
    }

    /// The nearest captured layer above.
    pub fn above(&self, layer: Layer) -> Option<&LayerMetrics> {
        self.layers.iter().rfind(|metrics| metrics.layer < layer)
    }

    /// The nearest captured layer below.
    pub fn below(&self, layer: Layer) -> Option<&LayerMetrics> {
        self.layers.iter().find(|metrics| metrics.layer > layer)
    }

    /// The boundary to the layer that most of `upper`'s requests go to.
    pub fn boundary_below(&self, upper: Layer) -> Option<&BoundaryMetrics> {
        self.boundaries.iter().filter(|one| one.upper == upper).max_by_key(|one| one.links)
    }

    /// The boundary to the layer that most of `lower`'s requests come from.
    pub fn boundary_above(&self, lower: Layer) -> Option<&BoundaryMetrics> {
        self.boundaries.iter().filter(|one| one.lower == lower).max_by_key(|one| one.links)
    }
}

impl LayerMetrics {
    pub fn op(&self, class: OpClass) -> Option<&Load> {
        self.by_op.iter().find(|(one, _)| *one == class).map(|(_, load)| load)
    }

    pub fn data_requests(&self) -> u64 {
        [OpClass::Read, OpClass::Write]
            .into_iter()
            .filter_map(|class| self.op(class))
            .map(|load| load.requests)
            .sum()
    }

    /// Of reads or writes, whichever has more bytes.
    pub fn streams(&self) -> &Streams {
        if self.read_streams.unique_bytes >= self.write_streams.unique_bytes {
            &self.read_streams
        } else {
            &self.write_streams
        }
    }
}
