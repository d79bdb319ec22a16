use super::{ABSENCE, Description, weight};
use crate::diagnosis::facts::Facts;

pub(super) const DESCRIPTION: Description = Description {
    name: "server-down",
    title: "server down",
    meaning: "the host is down, or its recorder is",
    decisive: ABSENCE,
    next: &["is {host} up, and does its recorder run?"],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let fits = if facts.is_most_of_a_server() { weight(facts.strengths.absence) } else { 0.0 };
    (fits, "the server has no samples while its peers have")
}
