//! T09: a sync after every few writes.

use crate::characteristics::OpClass;
use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::numbers::{nanoseconds, percent, plain};
use crate::reference::Metric;

pub(super) const RULE: Rule =
    Rule { title: "a sync after every few writes", explains: &[Metric::SyncPerData], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let metrics = context.all.layers.iter().find(|layer| {
        let syncs = layer.op(OpClass::Sync).map_or(0, |load| load.requests);
        syncs >= 8 && layer.sync.per_write > 0.2 && layer.sync.time_share > 0.2
    })?;
    let (layer, sync) = (metrics.layer, &metrics.sync);
    let syncs = metrics.op(OpClass::Sync)?;
    let writes = metrics.op(OpClass::Write);
    // One sync per twenty writes would remain.
    let remaining = (0.05 / sync.per_write).min(1.0);
    let latency_ns = syncs.latency_ns.avg;
    Some(RuleMatch {
        summary: format!(
            "{} syncs for {} writes take {} of the time",
            syncs.requests,
            writes.map_or(0, |load| load.requests),
            percent(sync.time_share)
        ),
        evidence: vec![
            Evidence::new(layer, "syncs per write", sync.per_write, plain(sync.per_write))
                .expect("at most 0.05"),
            Evidence::new(layer, "time with an open sync", sync.time_share, percent(sync.time_share))
                .expect("at most 20 %"),
            Evidence::new(layer, "latency of a sync", latency_ns, nanoseconds(latency_ns))
                .supports_if(writes.is_none_or(|writes| latency_ns > writes.latency_ns.avg)),
        ],
        cause: "the application syncs after every few writes (fsync storm)".into(),
        counter_evidence: "a requirement that each of these writes is durable",
        fixes: texts([
            "group commits: one fsync for many writes",
            "fdatasync instead of fsync, and files of their final size, so that no metadata is written",
        ]),
        gain: Gain {
            seconds: syncs.busy_seconds * (1.0 - remaining),
            formula: format!("time in syncs {:.2} s x (1 - {})", syncs.busy_seconds, plain(remaining)),
        },
        events: context.all.examples.of(layer).first[OpClass::Sync as usize].clone(),
        ..RuleMatch::at(layer, None)
    })
}
