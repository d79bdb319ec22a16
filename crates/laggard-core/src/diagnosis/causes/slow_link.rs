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
    let fits = weight(s.round_trips) * unless(s.congestion) * unless(s.more_network()) * unless(s.latency);
    let because = if s.more_network() > 1.0 {
        "its connections have long round trips; but its interface carries more than its peers'"
    } else if s.congestion > 1.0 {
        "its connections have long round trips; but they also lose segments"
    } else {
        "its connections have long round trips, though its interface carries no more than its peers'"
    };
    (fits, because)
}
