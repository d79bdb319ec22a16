//! The test bench's checklist: the first question that is answered by yes (FAST '10, sections 10.2 and 12).

use super::cause::Cause;
use super::facts::Facts;
use super::weigh::Weighed;

/// The cause by the checklist.
pub fn check(facts: &Facts) -> Vec<Weighed> {
    let diverges = |metric: &str| facts.evidence.iter().any(|evidence| evidence.metric == metric);
    let (received, sent, windows) = (diverges("rxbyt"), diverges("txbyt"), diverges("cwnd"));
    let (cause, because) = if diverges("rd_sec") || diverges("wr_sec") {
        (Cause::DiskHog, "its disk moves other amounts than its peers'")
    } else if diverges("await") {
        (Cause::DiskBusy, "its disk's latency is unlike its peers'")
    } else if received && sent || (received || sent) && !windows {
        (Cause::NetworkHog, "its interface moves other amounts than its peers'")
    } else if windows {
        (Cause::PacketLoss, "its windows are smaller than its peers'")
    } else {
        (Cause::Unknown, "no question of the checklist was answered by yes")
    };
    vec![Weighed { cause, confidence: 1.0, because }]
}
