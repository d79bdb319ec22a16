use super::{Description, unless, weight};
use crate::diagnosis::facts::Facts;
use crate::model::metric::MetricId;

pub(super) const DESCRIPTION: Description = Description {
    name: "rerouted-load",
    title: "rerouted load",
    meaning: "it carries the load of another component",
    decisive: &[MetricId::Activity, MetricId::Throughput, MetricId::RdSec, MetricId::WrSec],
    next: &["which primary path of {name} is gone, and since when?"],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let s = &facts.strengths;
    let share = if facts.is_most_of_a_server() { 0.3 } else { 1.0 };
    (share * weight(s.activity) * unless(s.lost()), "it is in use while its peers are idle")
}
