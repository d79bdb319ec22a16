use super::{Description, unless, weight};
use crate::diagnosis::facts::Facts;
use crate::model::metric::MetricId;

pub(super) const DESCRIPTION: Description = Description {
    name: "slow-link",
    title: "slow link",
    meaning: "the host's network is slow: its connections have long round trips",
    decisive: &[MetricId::Rtt, MetricId::PathRtt],
    next: &[
        "on {host}: `ethtool` of the interface: speed, duplex, errors; then the cable and the switch port",
    ],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let s = &facts.strengths;
    // The queue of a slow link is long, and overflows: it delays more than it loses.
    let loses_more = s.congestion / s.round_trips.max(1.0);
    let fits = weight(s.round_trips) * unless(loses_more) * unless(s.more_network()) * unless(s.latency);
    let because = if s.more_network() > 1.0 {
        "its connections have long round trips; but its interface carries more than its peers'"
    } else if loses_more > 1.0 {
        "its connections have long round trips; but they rather lose segments"
    } else if s.congestion > 1.0 {
        "its connections have long round trips and lose segments, as where a queue overflows"
    } else {
        "its connections have long round trips, though its interface carries no more than its peers'"
    };
    (fits, because)
}
