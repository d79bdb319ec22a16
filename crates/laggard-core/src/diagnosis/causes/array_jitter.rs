use super::{Description, LATENCY, WHOLE_ARRAY, weight};
use crate::diagnosis::facts::Facts;
use crate::model::component::Container;

pub(super) const DESCRIPTION: Description = Description {
    name: "array-jitter",
    title: "array jitter",
    meaning: "many LUNs of one array have unsteady latencies, as when disks of one drawer fail repeatedly",
    decisive: LATENCY,
    next: &["the log of {name}: errors of many disks of one drawer?"],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let slow = weight(facts.strengths.latency);
    let fits = match facts.container {
        Some(Container::Array | Container::Enclosure | Container::Drawer) => {
            slow * if facts.share > WHOLE_ARRAY { 0.5 } else { 1.0 }
        }
        Some(Container::Controller) => 0.5 * slow,
        _ => 0.0,
    };
    (fits, "many LUNs of one array are slow together")
}
