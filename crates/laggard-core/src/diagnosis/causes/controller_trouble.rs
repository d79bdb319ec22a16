use super::{Description, LATENCY, WHOLE_ARRAY, unless, weight};
use crate::diagnosis::facts::Facts;
use crate::model::component::Container;

pub(super) const DESCRIPTION: Description = Description {
    name: "controller-trouble",
    title: "controller fault",
    meaning: "a storage controller is faulty, and all that is behind it is affected",
    decisive: LATENCY,
    next: &["the log of {name}: failover, cache coherency, disk timeouts, LUN resets?"],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let s = &facts.strengths;
    let fits = if facts.is_in(Container::Controller) {
        weight(s.lost().max(s.latency).max(s.activity))
    } else if facts.is_in(Container::Array) {
        let slow = if facts.share > WHOLE_ARRAY { weight(s.latency) } else { 0.0 };
        (weight(s.lost()) * unless(s.latency)).max(slow)
    } else {
        0.0
    };
    (fits, "what it serves is affected together")
}
