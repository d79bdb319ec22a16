use super::{Description, unless, weight};
use crate::diagnosis::facts::Facts;
use crate::model::metric::MetricId;

pub(super) const DESCRIPTION: Description = Description {
    name: "network-hog",
    title: "network hog",
    meaning: "other traffic uses the host's network",
    decisive: &[MetricId::Rxbyt, MetricId::Rxpck, MetricId::Txbyt, MetricId::Txpck],
    next: &["on {host}: `ss -tni` sorted by bytes, or the switch port: what else uses the network?"],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let s = &facts.strengths;
    let disk = s.latency.max(s.more_disk_traffic);
    let because = if disk > 1.0 {
        "its interface carries more traffic than its peers'; but its disk also differs from theirs"
    } else {
        "its interface carries more traffic than its peers'"
    };
    // Longer round trips show that the traffic is in the way.
    (weight(s.more_network().max((s.more_network() * s.round_trips).sqrt())) * unless(disk), because)
}
