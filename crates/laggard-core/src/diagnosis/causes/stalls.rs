use super::{Description, LATENCY, TRACE, weight};
use crate::diagnosis::facts::Facts;

pub(super) const DESCRIPTION: Description = Description {
    name: "stalls",
    title: "stalls",
    meaning: "the device freezes for seconds again and again",
    decisive: LATENCY,
    next: &[
        "on {host}: {health}",
        "on {host}: `dmesg -T`: timeouts, resets, retries of {device}? Is its firmware current?",
        TRACE,
    ],
    weigh,
};

fn weigh(facts: &Facts) -> (f64, &'static str) {
    let s = &facts.strengths;
    let fits = if s.is_stalling() && !facts.is_lun { weight(s.minute_latency) } else { 0.0 };
    (fits, "most of its requests take as long as its peers', but in many minutes some wait for seconds")
}
