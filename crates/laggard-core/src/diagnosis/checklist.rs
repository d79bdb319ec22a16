//! The test bench's checklist: the first question that is answered by yes (FAST '10, sections 10.2 and 12).

use super::cause::Cause;
use super::facts::Facts;
use super::weigh::{Weighed, weigh};
use crate::model::metric::MetricId;

/// The cause by the checklist.
pub fn check(facts: &Facts) -> Vec<Weighed> {
    let diverges = |metric: MetricId| facts.evidence.iter().any(|evidence| evidence.metric == metric);
    let (received, sent, windows) =
        (diverges(MetricId::Rxbyt), diverges(MetricId::Txbyt), diverges(MetricId::Cwnd));
    let (cause, because) = if diverges(MetricId::RdSec) || diverges(MetricId::WrSec) {
        (Cause::DiskHog, "its disk moves other amounts than its peers'")
    } else if diverges(MetricId::Await) {
        (Cause::DiskBusy, "its disk's latency is unlike its peers'")
    } else if received && sent || (received || sent) && !windows {
        (Cause::NetworkHog, "its interface moves other amounts than its peers'")
    } else if windows {
        (Cause::PacketLoss, "its windows are smaller than its peers'")
    } else {
        (Cause::Unknown, "no question of the checklist was answered by yes")
    };
    vec![Weighed { cause, confidence: confidence(cause, facts), because }]
}

/// A checklist is never in doubt; how sure it may be is what all the evidence weighs. What nothing else speaks for is as
/// sure as doubt itself.
fn confidence(cause: Cause, facts: &Facts) -> f64 {
    let weighed = weigh(facts);
    let of_cause = weighed.iter().find(|other| other.cause == cause).map(|other| other.confidence);
    let known = weighed.iter().filter(|other| other.cause != Cause::Unknown);
    of_cause.unwrap_or_else(|| 1.0 - known.map(|other| other.confidence).sum::<f64>())
}
