//! T19: the kernel throttles writers at the dirty limit.

use crate::characteristics::OpClass;
use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::{Event, Kind, Layer};
use crate::numbers::{percent, plain};

pub(super) const RULE: Rule = Rule { title: "throttled writers", explains: &[], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let throttled = context.all.quality.throttled;
    let sys = context.first_of(&[Layer::Sys, Layer::Ssys])?;
    let writes = sys.op(OpClass::Write)?;
    let tail = writes.latency_ns.p99 / writes.latency_ns.p50.max(1.0);
    if throttled.count < 4 || tail < 5.0 {
        return None;
    }
    let depth = writes.concurrency.busy_avg.max(1.0);
    let wall = context.all.seconds;
    let share = throttled.seconds / depth / wall.max(1e-9);
    let times = format!("{} times, {:.2} s in total", throttled.count, throttled.seconds);
    Some(RuleMatch {
        summary: format!("the kernel throttled writers {times}"),
        evidence: vec![
            Evidence::new(Layer::Cache, "throttled writers", throttled.count as f64, times).expect("never"),
            Evidence::new(sys.layer, "p99 of writes relative to their median", tail, plain(tail))
                .expect("below 5"),
            Evidence::new(sys.layer, "throttled time", share, percent(share))
                .supports_if(throttled.seconds > 0.0),
        ],
        cause: "more is written than the device takes; the kernel slows writers down at the dirty limit"
            .into(),
        counter_evidence: "a control group with a low memory limit: its limit applies, not the host's",
        fixes: texts([
            "faster or more devices: a higher limit only delays the problem",
            "a lower vm.dirty_background_bytes, so that writeback begins earlier; a higher vm.dirty_bytes for \
                short bursts",
        ]),
        gain: Gain {
            seconds: (throttled.seconds / depth).min(wall),
            formula: format!("throttled time {:.2} s / concurrency {}", throttled.seconds, plain(depth)),
        },
        events: slow_writes(context, sys.layer),
        ..RuleMatch::at(Layer::Cache, Some(sys.layer))
    })
}

fn slow_writes(context: &Context, layer: Layer) -> Vec<Event> {
    let events = context.slowest_events(layer);
    if events.is_empty() { context.events(layer, &[Kind::Admit, Kind::Callback]) } else { events }
}
