use super::{Description, weight};
use crate::diagnosis::facts::Facts;
use crate::model::metric::MetricId;

pub(super) const DESCRIPTION: Description = Description {
    name: "server-down",
    title: "server down",
    meaning: "the host, its file server or its recorder is down",
    decisive: &[MetricId::Absence, MetricId::Idleness, MetricId::Disconnection],
    next: &["is {host} up, and do its file server and its recorder run?"],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let s = &facts.strengths;
    let absent = if facts.is_most_of_a_server() { weight(s.absence) } else { 0.0 };
    // Its recorder goes on, but neither its disks nor its network do anything.
    let silent = if facts.is_silent() && !facts.keeps_connections { weight(s.idleness) } else { 0.0 };
    let disconnected = if facts.may_be_disconnected { weight(s.disconnection) } else { 0.0 };
    let because = if disconnected > absent.max(silent) {
        "it has no connections, while its peers have some"
    } else if silent > absent {
        "its disks are idle and its network is silent, while its peers are in use"
    } else {
        "the server has no samples while its peers have"
    };
    (absent.max(silent).max(disconnected), because)
}
