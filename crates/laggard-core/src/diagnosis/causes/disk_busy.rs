use super::{Description, LATENCY, TRACE, unless, weight};
use crate::diagnosis::facts::Facts;

pub(super) const DESCRIPTION: Description = Description {
    name: "disk-busy",
    title: "disk busy",
    meaning: "the device is slow, or another host is loading it",
    decisive: LATENCY,
    next: &["on {host}: {health}", "is the device shared with another host, scrubbing or rebuilding?", TRACE],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let s = &facts.strengths;
    let fits = if facts.is_lun {
        0.0
    } else {
        // Stalls are the closer description.
        let stalling = if s.is_stalling() { 0.5 } else { 1.0 };
        stalling
            * weight(s.latency.max(s.minute_latency))
            * unless(s.more_disk_traffic / s.busy_time.max(1.0))
    };
    let because = if s.busy_time > 1.0 && s.busy_time > s.more_disk_traffic {
        "it needs more time than its peers for the same work"
    } else if facts.moves_more() {
        "it is slow; but it also moves more data than its peers"
    } else {
        "it is slow, and moves no more data than its peers"
    };
    (fits, because)
}
