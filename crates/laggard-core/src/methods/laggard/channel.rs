//! What is compared: metrics, absence, idleness, activity.

use crate::model::component::Kind;
use crate::model::metric::{Metric, MetricId};

/// The share of a group's traffic that does not matter.
pub const WHISPER: f64 = 0.05;

/// How a metric is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// Measured by what is done; zero means that there was nothing to measure.
    Measured,
    /// An amount; what does not matter is a share of the group's traffic in the same unit, or this much if that is
    /// more.
    Traffic(f64),
    /// A percentage of what its weight counts, gathered over some time; this much does not matter.
    Share(f64),
}

/// A metric that is watched.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    /// Its name.
    pub metric: MetricId,
    /// How it is read.
    pub reading: Reading,
    /// What is added to the group's spread: a third less than what is worth telling.
    pub floor: f64,
    /// Whether it can make a component faulty on its own. If not, it is evidence only.
    pub accuses: bool,
}

const fn watch(metric: MetricId, reading: Reading, floor: f64, accuses: bool) -> Watched {
    Watched { metric, reading, floor, accuses }
}

/// What latencies are corrected by.
pub const LOAD: MetricId = MetricId::Throughput;

/// Of a block device: its latency accuses, its traffic only explains, since load may be uneven for good reasons.
const DISK: &[Watched] = &[
    watch(MetricId::Await, Reading::Measured, 0.15, true),
    watch(MetricId::Throughput, Reading::Traffic(0.0), 0.3, false),
    watch(MetricId::RdSec, Reading::Traffic(0.0), 0.3, false),
    watch(MetricId::WrSec, Reading::Traffic(0.0), 0.3, false),
];

/// Of an interface: traffic that its peers do not have is somebody else's.
const NIC: &[Watched] = &[
    watch(MetricId::Rxbyt, Reading::Traffic(NETWORK_WHISPER), 0.3, true),
    watch(MetricId::Txbyt, Reading::Traffic(NETWORK_WHISPER), 0.3, true),
];

/// Bytes a second that hold nobody back on any network that carries storage: uneven metadata, chatter, heartbeats.
const NETWORK_WHISPER: f64 = 1e6;

/// Of the connections with a remote host: what is lost accuses. A small window only explains: one that was closed by a
/// loss long ago stays so for as long as the connection does not need more.
const LINK: &[Watched] = &[
    watch(MetricId::LinkLoss, Reading::Share(LOSS_WHISPER), 0.5, true),
    watch(MetricId::Cwnd, Reading::Measured, 0.5, false),
    watch(MetricId::Rtt, Reading::Measured, 0.5, false),
];

/// Of a whole host.
const HOST: &[Watched] = &[watch(MetricId::Loss, Reading::Share(LOSS_WHISPER), 0.5, true)];

/// Of a hundred segments, so many are lost wherever senders probe for the capacity of a network.
const LOSS_WHISPER: f64 = 0.5;

/// The floor of absence, idleness and activity.
pub const SHARE_FLOOR: f64 = 0.2;

/// What is watched of a kind.
pub fn of_kind(kind: &Kind) -> &'static [Watched] {
    match kind.as_str() {
        "nic" => NIC,
        "link" => LINK,
        "server" | "client" => HOST,
        "socket" | "recorder" => &[],
        _ => DISK,
    }
}

/// Those among them that are wanted.
pub fn judged(kind: &Kind, is_wanted: impl Fn(&'static Metric) -> bool) -> Vec<Watched> {
    let is_wanted = |watched: &&Watched| is_wanted(watched.metric.metric());
    of_kind(kind).iter().filter(is_wanted).copied().collect()
}

/// The metrics that are wanted, and what it takes to read them, which is not judged unless it is wanted, too.
pub fn read(kind: &Kind, is_wanted: impl Fn(&'static Metric) -> bool) -> Vec<&'static Metric> {
    let mut metrics: Vec<&'static Metric> = Vec::new();
    for watched in judged(kind, is_wanted) {
        let metric = watched.metric.metric();
        let needed = match watched.reading {
            Reading::Measured => of_kind(kind).iter().any(|other| other.metric == LOAD).then_some(LOAD),
            Reading::Share(_) => metric.weight,
            Reading::Traffic(_) => None,
        };
        for metric in std::iter::once(metric).chain(needed.map(MetricId::metric)) {
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
    }
    metrics
}

/// Whether absence and idleness of a kind accuse it: only devices have no reason to come and go.
pub fn has_to_be_there(kind: &Kind) -> bool {
    !matches!(kind.as_str(), "nic" | "link" | "server" | "client" | "socket" | "recorder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_watched_metric_is_recorded_and_so_is_what_it_is_a_share_of() {
        for watched in [DISK, NIC, LINK, HOST].into_iter().flatten() {
            let metric = watched.metric.metric();
            assert!(metric.is_recorded(), "{}", metric.name);
            let is_weighed = metric.weight.is_some_and(|weight| weight.metric().is_recorded());
            assert!(is_weighed || !matches!(watched.reading, Reading::Share(_)), "{}", metric.name);
        }
    }

    #[test]
    fn a_latency_is_read_with_its_load() {
        let ids = |only: MetricId| -> Vec<MetricId> {
            read(&Kind::ATTACHMENT, |metric| metric.id == only).iter().map(|metric| metric.id).collect()
        };
        assert_eq!(ids(MetricId::Await), [MetricId::Await, LOAD]);
        assert_eq!(ids(MetricId::RdSec), [MetricId::RdSec]);
    }
}
