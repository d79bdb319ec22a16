use super::{Description, weight};
use crate::diagnosis::facts::Facts;
use crate::model::metric::MetricId;

pub(super) const DESCRIPTION: Description = Description {
    name: "memory-pressure",
    title: "memory pressure",
    meaning: "the host is short of memory",
    decisive: &[MetricId::MemorySome],
    next: &["on {host}: `free -m`, `vmstat 5`, `smem`: which process takes the memory? Does it page?"],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    (weight(facts.strengths.memory), "its tasks wait for memory far more than its peers'")
}
