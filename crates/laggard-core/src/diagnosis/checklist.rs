//! The checklist of the test bench: the first question with the answer yes (FAST '10, sections 10.2 and 12).

use super::causes::Cause;
use super::facts::Facts;
use super::weigh::{WeighedCause, weigh};
use crate::model::metric::MetricId;

pub(super) fn check(facts: &Facts) -> Vec<WeighedCause> {
    let diverges = |metric: MetricId| facts.evidence.iter().any(|evidence| evidence.metric == metric);
    let (received, sent, windows) =
        (diverges(MetricId::Rxbyt), diverges(MetricId::Txbyt), diverges(MetricId::Cwnd));
    let (cause, because) = if diverges(MetricId::RdSec) || diverges(MetricId::WrSec) {
        (Cause::DiskHog, "its disk moves other amounts of data than its peers'")
    } else if diverges(MetricId::Await) {
        (Cause::DiskBusy, "its disk's latency differs from its peers'")
    } else if received && sent || (received || sent) && !windows {
        (Cause::NetworkHog, "its interface carries other amounts of data than its peers'")
    } else if windows {
        (Cause::PacketLoss, "its congestion windows are smaller than its peers'")
    } else {
        (Cause::Unknown, "no question of the checklist has the answer yes")
    };
    vec![WeighedCause { cause, confidence: confidence(cause, facts), because }]
}

/// A checklist knows no doubt, so the confidence comes from the weight of all evidence; a cause that this does not support
/// gets what the others leave.
fn confidence(cause: Cause, facts: &Facts) -> f64 {
    let weighed = weigh(facts);
    let of_cause = weighed.iter().find(|other| other.cause == cause).map(|other| other.confidence);
    let known = weighed.iter().filter(|other| other.cause != Cause::Unknown);
    of_cause.unwrap_or_else(|| 1.0 - known.map(|other| other.confidence).sum::<f64>())
}
