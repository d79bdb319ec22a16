use super::{Description, TRAFFIC, unless, weight};
use crate::diagnosis::facts::Facts;
use crate::model::component::Container;

pub(super) const DESCRIPTION: Description = Description {
    name: "workload-skew",
    title: "workload skew",
    meaning: "its load is higher than its peers', which is not its fault",
    decisive: TRAFFIC,
    next: &["which job uses {name} more than its peers? It may be healthy"],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let s = &facts.strengths;
    // A server's own jobs touch all its disks (Intrepid paper, 5.3.2).
    let own_jobs = if facts.is_most_of_a_server() { weight(s.activity) } else { 0.0 };
    let more = weight(s.more_disk_traffic) * unless(s.activity);
    let requested = match facts.container {
        Some(container) if !matches!(container, Container::Server | Container::Lun) => 0.0,
        _ if facts.is_lun => more,
        _ if facts.has_network => more.min(weight(s.more_network())),
        _ => 0.4 * more,
    };
    // The load that a disk always has explains no slowness that it has not always had.
    let is_as_usual = s.latency > 1.0 && facts.load.is_some_and(|load| !load.is_more());
    let requested = if is_as_usual { 0.0 } else { requested };
    (own_jobs.max(requested) * unless(s.lost()), "its load is higher than its peers'")
}
