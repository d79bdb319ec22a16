//! The metrics that are compared for each kind of component. Absence, idleness and activity are compared as well.

use crate::model::component::Kind;
use crate::model::metric::{Metric, MetricId};
use crate::model::time::Span;

/// Traffic below this share of the group's traffic is negligible.
pub(super) const NEGLIGIBLE_SHARE: f64 = 0.05;

/// Bytes per second that slow no storage network down: uneven metadata, heartbeats.
const NEGLIGIBLE_BYTES_PER_SECOND: f64 = 1e6;

/// Broken or dropped packets per second that slow nothing down: broadcasts that nothing listens to are dropped everywhere.
const NEGLIGIBLE_ERRORS_PER_SECOND: f64 = 1.0;

/// Wherever senders probe for the capacity of a network, this percentage of segments is lost.
const NEGLIGIBLE_LOSS_PERCENT: f64 = 0.5;

/// On a busy host, some task waits for this percentage of the time.
const NEGLIGIBLE_WAITING_PERCENT: f64 = 10.0;

/// Round trips below this delay no storage request noticeably: schedulers and interrupt moderation take as long.
const NEGLIGIBLE_DELAY_MS: f64 = 0.5;

/// The meaning of a metric's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ValueKind {
    /// A property of requests, such as latency. Zero: there was nothing to measure.
    Measurement,
    /// The busy time of a device for its work.
    BusyTime,
    /// A time that is part of every request's. This time, in the metric's unit, is negligible.
    Delay(f64),
    /// An amount. Negligible is [`NEGLIGIBLE_SHARE`] of the group's traffic in the same unit, or this if it is more.
    Amount(f64),
    /// A percentage of the metric's weight, accumulated over time. This percentage is negligible.
    Share(f64),
    /// The same, accumulated already.
    AccumulatedShare(f64),
    /// A share of time.
    Presence,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ComparedMetric {
    pub(super) metric: MetricId,
    pub(super) value: ValueKind,
    /// The smallest difference worth reporting, however similar the peers are: the logarithm of a ratio, or a share of
    /// time.
    pub(super) least: f64,
    /// The metric alone can make a component faulty. Otherwise it is only evidence.
    pub(super) is_decisive: bool,
}

const fn decisive(metric: MetricId, value: ValueKind, least: f64) -> ComparedMetric {
    ComparedMetric { metric, value, least, is_decisive: true }
}

const fn evidence(metric: MetricId, value: ValueKind, least: f64) -> ComparedMetric {
    ComparedMetric { metric, value, least, is_decisive: false }
}

/// Latencies are corrected for this.
pub(super) const LOAD: MetricId = MetricId::Throughput;

/// Latency and the busy time for the same work are decisive. Traffic is only evidence: load may be uneven for good reasons.
const DISK: &[ComparedMetric] = &[
    decisive(MetricId::Await, ValueKind::Measurement, 0.21),
    decisive(MetricId::Svctm, ValueKind::BusyTime, 0.35),
    evidence(MetricId::Throughput, ValueKind::Amount(0.0), 0.42),
    evidence(MetricId::RdSec, ValueKind::Amount(0.0), 0.42),
    evidence(MetricId::WrSec, ValueKind::Amount(0.0), 0.42),
];

/// The work that a busy time is compared for, and the latency, which shows how many requests a device has at a time.
const WORK: &[MetricId] = &[MetricId::Tps, MetricId::Await, MetricId::RdSec, MetricId::WrSec];

/// Traffic that the peers do not have belongs to another workload.
const NIC: &[ComparedMetric] = &[
    decisive(MetricId::Rxbyt, ValueKind::Amount(NEGLIGIBLE_BYTES_PER_SECOND), 0.42),
    decisive(MetricId::Txbyt, ValueKind::Amount(NEGLIGIBLE_BYTES_PER_SECOND), 0.42),
    evidence(MetricId::Rxerr, ValueKind::Amount(NEGLIGIBLE_ERRORS_PER_SECOND), 0.7),
    evidence(MetricId::Txerr, ValueKind::Amount(NEGLIGIBLE_ERRORS_PER_SECOND), 0.7),
    evidence(MetricId::Rxdrop, ValueKind::Amount(NEGLIGIBLE_ERRORS_PER_SECOND), 0.7),
    evidence(MetricId::Txdrop, ValueKind::Amount(NEGLIGIBLE_ERRORS_PER_SECOND), 0.7),
];

/// Loss and delay are decisive. A small congestion window is only evidence: after a loss it stays small for as long as the
/// connection needs no more.
const LINK: &[ComparedMetric] = &[
    decisive(MetricId::LinkLoss, ValueKind::Share(NEGLIGIBLE_LOSS_PERCENT), 0.7),
    evidence(MetricId::Cwnd, ValueKind::Measurement, 0.7),
    decisive(MetricId::Rtt, ValueKind::Delay(NEGLIGIBLE_DELAY_MS), 0.7),
];

/// A host is what all its connections have in common: their mean is steadier than that of one connection. Tasks that wait
/// for a processor or for memory, far more than on the peers, slow down everything that a host serves. A server without a
/// connection serves nothing; that is the first one, as clients have none between jobs.
const HOST: &[ComparedMetric] = &[
    presence(MetricId::Disconnection),
    decisive(MetricId::Loss, ValueKind::Share(NEGLIGIBLE_LOSS_PERCENT), 0.7),
    decisive(MetricId::PathLoss, ValueKind::AccumulatedShare(NEGLIGIBLE_LOSS_PERCENT), 0.42),
    decisive(MetricId::PathRtt, ValueKind::Delay(NEGLIGIBLE_DELAY_MS), 0.5),
    decisive(MetricId::CpuSome, ValueKind::Amount(NEGLIGIBLE_WAITING_PERCENT), 0.7),
    decisive(MetricId::MemorySome, ValueKind::Amount(NEGLIGIBLE_WAITING_PERCENT), 0.7),
];

/// Stalls of a device: it is hardly slower, but in many minutes some requests wait for seconds.
pub(super) const MINUTE_AWAIT: ComparedMetric = decisive(MetricId::MinuteAwait, ValueKind::Measurement, 0.35);

/// Shares of time.
const fn presence(metric: MetricId) -> ComparedMetric {
    decisive(metric, ValueKind::Presence, 0.28)
}

pub(super) const ABSENCE: ComparedMetric = presence(MetricId::Absence);
pub(super) const ACTIVITY: ComparedMetric = presence(MetricId::Activity);
pub(super) const IDLENESS: ComparedMetric = presence(MetricId::Idleness);

/// How many times its threshold a component has to exceed in a window shorter than the full length.
pub(super) fn shortness(compared: ComparedMetric, covered: Span, full_length: Span) -> f64 {
    let exponent = match compared.value {
        // How much more a latency or a share of lost segments may differ briefly follows from how much it does.
        ValueKind::Measurement
        | ValueKind::BusyTime
        | ValueKind::Share(_)
        | ValueKind::AccumulatedShare(_) => return 1.0,
        // What all connections of a host have in common is not the traffic of one of them.
        ValueKind::Delay(_) if compared.metric == MetricId::PathRtt => return 1.0,
        ValueKind::Delay(_) => MILD,
        ValueKind::Amount(_) | ValueKind::Presence => CLEAR,
    };
    let ratio = full_length.micros() as f64 / covered.micros().max(1) as f64;
    ratio.max(1.0).powf(exponent)
}

/// Round trips follow the traffic: a delay that lasts briefly has to be severe to matter. With this exponent, 1.25 times for
/// an hour is as bad as twice for a minute.
const MILD: f64 = 0.2;
/// Traffic and absence are no matter of degree.
const CLEAR: f64 = 0.15;

fn of_kind(kind: &Kind) -> &'static [ComparedMetric] {
    match kind.as_str() {
        "nic" => NIC,
        "link" => LINK,
        "server" => HOST,
        "client" => &HOST[1..],
        "socket" | "recorder" => &[],
        _ => DISK,
    }
}

/// The wanted metrics of a kind.
pub(super) fn compared(kind: &Kind, is_wanted: impl Fn(&'static Metric) -> bool) -> Vec<ComparedMetric> {
    of_kind(kind).iter().filter(|compared| is_wanted(compared.metric.metric())).copied().collect()
}

/// The wanted metrics, and those needed to compute them, which are not evaluated unless they are wanted.
pub(super) fn needed(kind: &Kind, is_wanted: impl Fn(&'static Metric) -> bool) -> Vec<&'static Metric> {
    let mut metrics: Vec<&'static Metric> = Vec::new();
    for compared in compared(kind, is_wanted) {
        let metric = compared.metric.metric();
        let sources = compared.metric.sources().iter().map(|source| source.metric());
        metrics.extend(sources.filter(|source| !metrics.contains(source)).collect::<Vec<_>>());
        let other = match compared.value {
            ValueKind::Measurement => of_kind(kind).iter().any(|other| other.metric == LOAD).then_some(LOAD),
            ValueKind::Share(_) => metric.weight,
            ValueKind::Amount(_)
            | ValueKind::BusyTime
            | ValueKind::AccumulatedShare(_)
            | ValueKind::Delay(_)
            | ValueKind::Presence => None,
        };
        let weight = (metric.id == MetricId::Await).then_some(metric.weight).flatten();
        let work: &[MetricId] = if compared.value == ValueKind::BusyTime { WORK } else { &[] };
        let others = other.into_iter().chain(weight).chain(work.iter().copied());
        for metric in std::iter::once(metric).chain(others.map(MetricId::metric)) {
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
    }
    metrics
}

/// Absence and idleness are decisive only for devices: everything else comes and goes for good reasons.
pub(super) fn is_always_present(kind: &Kind) -> bool {
    !matches!(kind.as_str(), "nic" | "link" | "server" | "client" | "socket" | "recorder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_compared_metric_is_recorded_and_so_is_its_weight() {
        for compared in [DISK, NIC, LINK, HOST].into_iter().flatten() {
            let metric = compared.metric.metric();
            let sources = metric.id.sources().iter().map(|source| source.metric());
            assert!(std::iter::once(metric).chain(sources).any(Metric::is_recorded), "{}", metric.name);
            let is_weighed = metric.weight.is_some_and(|weight| weight.metric().is_recorded());
            assert!(is_weighed || !matches!(compared.value, ValueKind::Share(_)), "{}", metric.name);
        }
    }

    #[test]
    fn a_latency_needs_its_load() {
        let ids = |only: MetricId| -> Vec<MetricId> {
            needed(&Kind::ATTACHMENT, |metric| metric.id == only).iter().map(|metric| metric.id).collect()
        };
        assert_eq!(ids(MetricId::Await), [MetricId::Await, LOAD, MetricId::Tps]);
        assert_eq!(ids(MetricId::RdSec), [MetricId::RdSec]);
    }
}
