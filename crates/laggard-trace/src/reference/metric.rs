//! The generic figures that are judged in every layer: one row each.

use serde::{Deserialize, Serialize};

use crate::characteristics::figures::{Characteristics, LayerFigures};
use crate::characteristics::layer::OpClass;
use crate::model::{Class, Layer};

/// Which way is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Too little.
    Low,
    /// Too much.
    High,
    /// Both.
    Either,
}

/// A figure of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The most requests at once.
    MaxConcurrency,
    /// Busy concurrency over that of the layer above.
    ConcurrencyRatio,
    /// Waiting over time below.
    QueueRatio,
    /// The mean run over the mean request.
    Contiguity,
    /// The share of the window without a request.
    Idle,
    /// The share of writes acknowledged early.
    EarlyAck,
    /// Metadata requests by data request.
    MetadataPerData,
    /// Children by parent.
    Split,
    /// Bytes over those of the layer above.
    ByteAmplification,
    /// Syncs by data request.
    SyncPerData,
    /// The slowest member over the others.
    SlowMember,
    /// Bytes asked for over unique bytes.
    Redundancy,
    /// The share of requests that go on where the last one ended.
    ZeroSeek,
    /// Failures and requeues.
    Errors,
    /// Bytes of a request.
    RequestSize,
    /// The median latency of reads, in nanoseconds.
    ReadLatency,
    /// The median latency of writes, in nanoseconds.
    WriteLatency,
    /// Bytes a second while busy.
    Throughput,
}

impl Metric {
    /// All of them.
    pub const ALL: [Metric; 18] = [
        Metric::MaxConcurrency,
        Metric::ConcurrencyRatio,
        Metric::QueueRatio,
        Metric::Contiguity,
        Metric::Idle,
        Metric::EarlyAck,
        Metric::MetadataPerData,
        Metric::Split,
        Metric::ByteAmplification,
        Metric::SyncPerData,
        Metric::SlowMember,
        Metric::Redundancy,
        Metric::ZeroSeek,
        Metric::Errors,
        Metric::RequestSize,
        Metric::ReadLatency,
        Metric::WriteLatency,
        Metric::Throughput,
    ];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Metric::MaxConcurrency => "max-concurrency",
            Metric::ConcurrencyRatio => "concurrency-ratio",
            Metric::QueueRatio => "queue-ratio",
            Metric::Contiguity => "contiguity",
            Metric::Idle => "idle",
            Metric::EarlyAck => "early-ack",
            Metric::MetadataPerData => "metadata-per-data",
            Metric::Split => "split",
            Metric::ByteAmplification => "byte-amplification",
            Metric::SyncPerData => "sync-per-data",
            Metric::SlowMember => "slow-member",
            Metric::Redundancy => "redundancy",
            Metric::ZeroSeek => "zero-seek",
            Metric::Errors => "errors",
            Metric::RequestSize => "request-size",
            Metric::ReadLatency => "read-latency",
            Metric::WriteLatency => "write-latency",
            Metric::Throughput => "throughput",
        }
    }

    /// Which way is bad.
    pub fn harm(self) -> Harm {
        match self {
            Metric::MaxConcurrency
            | Metric::ConcurrencyRatio
            | Metric::Contiguity
            | Metric::EarlyAck
            | Metric::ZeroSeek
            | Metric::RequestSize
            | Metric::Throughput => Harm::Low,
            Metric::ByteAmplification => Harm::Either,
            _ => Harm::High,
        }
    }

    /// Its value for a layer; none where it says nothing there.
    pub fn value(self, all: &Characteristics, layer: &LayerFigures) -> Option<f64> {
        let above = all.boundary_above(layer.layer).filter(|one| one.links > 0);
        let has_requests = layer.load.requests > 0;
        let median = |class: OpClass| {
            layer
                .op(class)
                .map(|load| load.latency_ns)
                .filter(|latency| latency.count > 0)
                .map(|latency| latency.p50)
        };
        match self {
            Metric::MaxConcurrency => has_requests.then_some(f64::from(layer.load.concurrency.max)),
            Metric::ConcurrencyRatio => above?.concurrency_ratio,
            Metric::QueueRatio => layer.timing.queue_ratio,
            Metric::Contiguity => (layer.runs.requests > 1).then_some(layer.runs.contiguity),
            Metric::Idle => has_requests.then_some(layer.load.idle_share),
            Metric::EarlyAck => above?.early_ack_share,
            Metric::MetadataPerData => (layer.data_requests() > 0).then_some(layer.metadata.per_data),
            Metric::Split => Some(above?.split),
            Metric::ByteAmplification => Some(above?.byte_amplification),
            Metric::SyncPerData => (layer.data_requests() > 0).then_some(layer.sync.per_data),
            Metric::SlowMember => slowest(layer),
            Metric::Redundancy => (layer.data_requests() > 0).then_some(redundancy(layer)),
            Metric::ZeroSeek => (layer.runs.requests > 1).then_some(layer.runs.zero_seek_share),
            Metric::Errors => has_requests.then_some((layer.errors.failed + layer.errors.requeued) as f64),
            Metric::RequestSize => (layer.data_requests() > 0).then_some(layer.load.size_bytes.avg),
            Metric::ReadLatency => median(OpClass::Read),
            Metric::WriteLatency => median(OpClass::Write),
            Metric::Throughput => (layer.load.bytes > 0).then_some(layer.load.bytes_per_busy_second),
        }
    }
}

fn slowest(layer: &LayerFigures) -> Option<f64> {
    layer.members.members.iter().filter_map(|member| member.slow_factor).max_by(f64::total_cmp)
}

fn redundancy(layer: &LayerFigures) -> f64 {
    [&layer.read_streams, &layer.write_streams]
        .into_iter()
        .map(|streams| streams.redundancy)
        .fold(0.0, f64::max)
}

/// Device classes have no names of their own in a trace: a range may be for one device, or for all.
pub fn is_of_class(layer: Layer, class: Class) -> bool {
    layer.class() == class
}
