use super::{Description, weight};
use crate::diagnosis::facts::Facts;
use crate::model::metric::MetricId;

pub(super) const DESCRIPTION: Description = Description {
    name: "cpu-hog",
    title: "CPU hog",
    meaning: "other programs use the host's processors",
    decisive: &[MetricId::CpuSome],
    next: &["on {host}: `top` or `pidstat 5`: which process is not the file server's?"],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    (weight(facts.strengths.cpu), "its tasks wait for a processor far more than its peers'")
}
