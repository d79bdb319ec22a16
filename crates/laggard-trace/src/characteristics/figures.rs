//! All characteristics of a trace, as told to people and programs: the `layers`, `boundaries` and `quality` of the
//! JSON form.

use serde::Serialize;

use super::arrivals::Burstiness;
use super::boundary::BoundaryFigures;
use super::contrast::ContrastFigures;
use super::errors::ErrorFigures;
use super::examples::Album;
use super::extents::Streams;
use super::groups::BelowFigures;
use super::histogram::Summary;
use super::layer::OpClass;
use super::members::MembersFigures;
use super::objects::ObjectFigures;
use super::series::Course;
use super::tally::Load;
use super::timing::TimingFigures;
use super::walk::Runs;
use crate::model::{Class, Layer};

/// All characteristics of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Characteristics {
    /// The first ADMIT of the top layer, on the first host's clock.
    pub from_ns: u64,
    /// Its last CALLBACK.
    pub to_ns: u64,
    /// From one to the other.
    pub seconds: f64,
    /// The layers that were captured, top first.
    pub layers: Vec<LayerFigures>,
    /// What happens between them.
    pub boundaries: Vec<BoundaryFigures>,
    /// How far the trace can be trusted.
    pub quality: Quality,
    /// Raw events to be shown.
    #[serde(skip)]
    pub album: Album,
}

/// All characteristics of a layer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerFigures {
    /// Which layer.
    pub layer: Layer,
    /// What it is like.
    pub class: Class,
    /// What people call it.
    pub title: String,
    /// All its requests.
    pub load: Load,
    /// By operation.
    pub by_op: Vec<(OpClass, Load)>,
    /// By host, where there are several.
    pub by_host: Vec<(String, Load)>,
    /// Objects with the most bytes.
    pub objects: Vec<ObjectFigures>,
    /// How many objects there are.
    pub object_count: usize,
    /// Requests that are with the layer below.
    pub below: BelowFigures,
    /// The most requests of one thread at once.
    pub max_per_thread: u32,
    /// How many threads there are.
    pub threads: usize,
    /// What it does with its time.
    pub activity: Activity,
    /// Where requests' time goes.
    pub timing: TimingFigures,
    /// The share of top requests' time that is charged to this layer as the deepest one.
    pub path_share: f64,
    /// Data requests in the order in which they go down.
    pub runs: Runs,
    /// What is read, as streams.
    pub read_streams: Streams,
    /// What is written.
    pub write_streams: Streams,
    /// How many processes ask for the same bytes, in the mean; none where processes are not known.
    pub sharing: Option<f64>,
    /// Devices or servers.
    pub members: MembersFigures,
    /// How unevenly requests arrive.
    pub burstiness: Burstiness,
    /// What failed.
    pub errors: ErrorFigures,
    /// Metadata requests.
    pub metadata: Metadata,
    /// Pauses of threads between requests.
    pub think_ns: Summary,
    /// What making durable costs.
    pub sync: SyncFigures,
    /// Requests that are not aligned to pages.
    pub misaligned: ContrastFigures,
    /// Requests that do not go on where the last one ended (queues and devices).
    pub apart: ContrastFigures,
    /// The share of data requests that no lower layer saw; none where there is no lower layer.
    pub cached_share: Option<f64>,
    /// Bytes read above over bytes read here, where some are read ahead.
    pub readahead_efficiency: Option<f64>,
    /// The share of data requests whose parent was found; none for the top layer.
    pub link_rate: Option<f64>,
    /// How far the mean concurrency is from rate times latency.
    pub little_error: f64,
    /// Requests of others, which are in no other figure.
    pub left_out: u64,
    /// Requests whose begin or end is not in the trace.
    pub partial: u64,
    /// Concurrency over time.
    #[serde(skip)]
    pub course: Course,
}

/// What a layer does with its time, as shares of the window. They sum to one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Activity {
    /// It has requests.
    pub busy: f64,
    /// It has none, and neither has the layer above.
    pub starved: f64,
    /// It has none while the layer above has.
    pub held: f64,
    /// It has none while the layer above only syncs.
    pub syncing: f64,
    /// It is the top layer and has none.
    pub outside: f64,
}

/// Requests for metadata.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Metadata {
    /// How many.
    pub requests: u64,
    /// By data request of the same layer.
    pub per_data: f64,
    /// By data request of the layer above.
    pub per_data_above: Option<f64>,
    /// By operation.
    pub by_op: Vec<(String, u64)>,
}

/// What making durable costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SyncFigures {
    /// Syncs by data request.
    pub per_data: f64,
    /// Syncs by write.
    pub per_write: f64,
    /// The share of the window in which one was open.
    pub time_share: f64,
}

/// How far the trace can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Quality {
    /// Events that were taken in.
    pub events: u64,
    /// The share of events that was lost or not understood.
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
    /// Whether the file ends before its end.
    pub is_cut_short: bool,
    /// Whose requests count, in words.
    pub scope: String,
    /// Clocks: how far those of different hosts may be apart.
    pub clock_error_ns: u64,
    /// What capturing cost by request of the top layer, where it was measured.
    pub overhead_ns: Option<f64>,
    /// Writers that the kernel held back.
    pub throttled: Throttled,
}

/// Writers that the kernel held back, since too much was not yet written back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Throttled {
    /// How often.
    pub count: u64,
    /// For how long together.
    pub seconds: f64,
}

impl Characteristics {
    /// The figures of a layer.
    pub fn layer(&self, layer: Layer) -> Option<&LayerFigures> {
        self.layers.iter().find(|figures| figures.layer == layer)
    }

    /// The top layer.
    pub fn top(&self) -> Option<&LayerFigures> {
        self.layers.first()
    }

    /// The nearest captured layer above.
    pub fn above(&self, layer: Layer) -> Option<&LayerFigures> {
        self.layers.iter().rfind(|figures| figures.layer < layer)
    }

    /// The nearest captured layer below.
    pub fn below(&self, layer: Layer) -> Option<&LayerFigures> {
        self.layers.iter().find(|figures| figures.layer > layer)
    }

    /// What happens between a layer and the next captured one below, or the one most requests go to.
    pub fn boundary_below(&self, upper: Layer) -> Option<&BoundaryFigures> {
        self.boundaries.iter().filter(|one| one.upper == upper).max_by_key(|one| one.links)
    }

    /// What happens between a layer and the one its requests come from.
    pub fn boundary_above(&self, lower: Layer) -> Option<&BoundaryFigures> {
        self.boundaries.iter().filter(|one| one.lower == lower).max_by_key(|one| one.links)
    }
}

impl LayerFigures {
    /// The load of an operation.
    pub fn op(&self, class: OpClass) -> Option<&Load> {
        self.by_op.iter().find(|(one, _)| *one == class).map(|(_, load)| load)
    }

    /// Data requests.
    pub fn data_requests(&self) -> u64 {
        [OpClass::Read, OpClass::Write]
            .into_iter()
            .filter_map(|class| self.op(class))
            .map(|load| load.requests)
            .sum()
    }

    /// The streams of what is mostly done: reads or writes.
    pub fn streams(&self) -> &Streams {
        if self.read_streams.unique_bytes >= self.write_streams.unique_bytes {
            &self.read_streams
        } else {
            &self.write_streams
        }
    }
}
