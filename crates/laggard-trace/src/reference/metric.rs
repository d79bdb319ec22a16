//! The metrics that are evaluated in every layer.

use serde::{Deserialize, Serialize};

use crate::characteristics::{Characteristics, LayerMetrics, OpClass};

/// The direction of harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harm {
    Low,
    High,
    Either,
}

/// A metric of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    MaxConcurrency,
    /// Busy concurrency divided by that of the layer above.
    ConcurrencyRatio,
    /// Wait time divided by time below.
    QueueRatio,
    /// The mean run divided by the mean request.
    Contiguity,
    /// The share of the window without a request.
    Idle,
    /// The share of writes acknowledged early.
    EarlyAck,
    /// Metadata requests per data request.
    MetadataPerData,
    /// Children per parent.
    Split,
    /// Bytes divided by those of the layer above.
    ByteAmplification,
    /// Syncs per data request.
    SyncPerData,
    /// The slowest device or server relative to the others.
    #[serde(rename = "slow-member")]
    SlowComponent,
    /// Requested bytes divided by unique bytes.
    Redundancy,
    /// The share of requests that continue the previous one.
    ZeroSeek,
    /// Failures and requeues.
    Errors,
    /// Mean bytes.
    RequestSize,
    /// The median in nanoseconds.
    ReadLatency,
    /// The median in nanoseconds.
    WriteLatency,
    /// Bytes per busy second.
    Throughput,
}

/// One row per metric, in the order of the enum.
const METRICS: [(Metric, &str, Harm); 18] = [
    (Metric::MaxConcurrency, "max-concurrency", Harm::Low),
    (Metric::ConcurrencyRatio, "concurrency-ratio", Harm::Low),
    (Metric::QueueRatio, "queue-ratio", Harm::High),
    (Metric::Contiguity, "contiguity", Harm::Low),
    (Metric::Idle, "idle", Harm::High),
    (Metric::EarlyAck, "early-ack", Harm::Low),
    (Metric::MetadataPerData, "metadata-per-data", Harm::High),
    (Metric::Split, "split", Harm::High),
    (Metric::ByteAmplification, "byte-amplification", Harm::Either),
    (Metric::SyncPerData, "sync-per-data", Harm::High),
    (Metric::SlowComponent, "slow-member", Harm::High),
    (Metric::Redundancy, "redundancy", Harm::High),
    (Metric::ZeroSeek, "zero-seek", Harm::Low),
    (Metric::Errors, "errors", Harm::High),
    (Metric::RequestSize, "request-size", Harm::Low),
    (Metric::ReadLatency, "read-latency", Harm::High),
    (Metric::WriteLatency, "write-latency", Harm::High),
    (Metric::Throughput, "throughput", Harm::Low),
];

impl Metric {
    pub(crate) fn all() -> impl Iterator<Item = Metric> {
        METRICS.iter().map(|(metric, _, _)| *metric)
    }

    /// The name in reference files and JSON.
    pub fn name(self) -> &'static str {
        METRICS[self as usize].1
    }

    pub(crate) fn harm(self) -> Harm {
        METRICS[self as usize].2
    }

    /// None where the metric does not apply to the layer.
    pub(crate) fn value(self, all: &Characteristics, layer: &LayerMetrics) -> Option<f64> {
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
            Metric::SlowComponent => slowest(layer),
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

fn slowest(layer: &LayerMetrics) -> Option<f64> {
    layer.components.components.iter().filter_map(|component| component.slow_factor).max_by(f64::total_cmp)
}

fn redundancy(layer: &LayerMetrics) -> f64 {
    [&layer.read_streams, &layer.write_streams]
        .into_iter()
        .map(|streams| streams.redundancy)
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_has_its_own_row() {
        for (place, metric) in Metric::all().enumerate() {
            assert_eq!(metric as usize, place);
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.name());
        }
    }
}
