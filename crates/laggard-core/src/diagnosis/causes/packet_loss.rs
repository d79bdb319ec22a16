use super::{Description, unless, weight};
use crate::diagnosis::facts::Facts;
use crate::model::metric::MetricId;

pub(super) const DESCRIPTION: Description = Description {
    name: "packet-loss",
    title: "packet loss",
    meaning: "packets to or from the host are lost",
    decisive: &[
        MetricId::LinkLoss,
        MetricId::Loss,
        MetricId::PathLoss,
        MetricId::LinkRetrans,
        MetricId::Retrans,
        MetricId::Cwnd,
        MetricId::Rtt,
        MetricId::PathRtt,
    ],
    next: &[
        "on {host}: `ethtool -S` and `ip -s link`: errors, drops, CRC; then the cable and the switch port",
    ],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let s = &facts.strengths;
    // A slow disk sends in bursts, which its windows show too: storage comes first (FAST '10, section 12).
    // Lost segments leave the round trips of the others as they are.
    let delays_more = s.round_trips / s.congestion.max(1.0);
    let fits = weight(s.congestion) * unless(s.latency) * unless(s.more_network()) * unless(delays_more);
    let because = if s.latency > 1.0 {
        "its connections have small congestion windows or retransmit often; but its disk is slow"
    } else if s.more_network() > 1.0 {
        "its connections have small congestion windows or retransmit often; but its interface carries more than its peers'"
    } else if delays_more > 1.0 {
        "its connections have small congestion windows or retransmit often; but their round trips are longer still"
    } else {
        "its connections have small congestion windows or retransmit often"
    };
    (fits, because)
}
