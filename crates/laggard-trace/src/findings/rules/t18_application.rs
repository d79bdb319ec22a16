//! T18: most of the time no request is open. Not a storage problem.

use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::{Class, Kind};
use crate::numbers::{nanoseconds, percent};

pub(super) const RULE: Rule = Rule { title: "the application itself", explains: &[], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let top = context.top()?;
    let share = top.activity.outside;
    // A device's queue does not show whether the application waits for something above it.
    let is_far_down = matches!(top.layer.class(), Class::Queue | Class::Device);
    if is_far_down || share <= 0.5 || top.load.requests < 16 {
        return None;
    }
    let think = &top.think_ns;
    Some(RuleMatch {
        summary: format!("no request is open {} of the time: not a storage problem", percent(share)),
        evidence: vec![
            Evidence::new(top.layer, "time without a request", share, percent(share)).expect("at most 50 %"),
            Evidence::new(
                top.layer,
                "think time of a thread",
                think.p50,
                format!("median {}, maximum {}", nanoseconds(think.p50), nanoseconds(think.max)),
            ),
        ],
        cause: "the application computes, waits for something else, or pauses between requests".into(),
        counter_evidence: "requests of the application that were not captured (other processes, memory-mapped \
            files)",
        fixes: texts([
            "profile the application: `perf top`, its own timing",
            "overlap computation and I/O: asynchronous requests, a thread that reads ahead",
        ]),
        gain: Gain { seconds: 0.0, formula: "faster storage saves at most the remaining time".into() },
        events: context.events(top.layer, &[Kind::Admit, Kind::Callback]),
        ..RuleMatch::at(top.layer, None)
    })
}
