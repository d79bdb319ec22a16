//! T17: the same bytes are read or written repeatedly.

use crate::characteristics::OpClass;
use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::Kind;
use crate::numbers::{bytes, plain};
use crate::reference::Metric;

pub(super) const RULE: Rule = Rule { title: "redundant I/O", explains: &[Metric::Redundancy], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let top = context.top()?;
    let sides = [(OpClass::Read, &top.read_streams), (OpClass::Write, &top.write_streams)];
    let (class, streams) = sides.into_iter().max_by(|a, b| a.1.redundancy.total_cmp(&b.1.redundancy))?;
    let load = top.op(class)?;
    let redundancy = streams.redundancy;
    // The offsets of a descriptor that is not known to be a file mean nothing.
    if redundancy <= 1.5 || load.requests < 64 || streams.unique_bytes == 0 {
        return None;
    }
    let sharing = top.sharing.unwrap_or(1.0);
    let is_read = class == OpClass::Read;
    let (all, unique) = (bytes(load.bytes as f64), bytes(streams.unique_bytes as f64));
    let (cause, fix) = if is_read && sharing > 1.2 {
        (
            "several processes read the same bytes",
            "let one process read and broadcast (collective I/O), or share a cache",
        )
    } else if is_read {
        ("the same bytes are read repeatedly", "keep them in memory, or use the page cache (no O_DIRECT)")
    } else {
        ("the same bytes are written repeatedly", "collect changes in memory, write them once")
    };
    Some(RuleMatch {
        summary: format!("{all} {} for {unique} of unique bytes", if is_read { "read" } else { "written" }),
        evidence: vec![
            Evidence::new(top.layer, "bytes per unique byte", redundancy, plain(redundancy))
                .expect("at most 1.5")
                .of_metric(Metric::Redundancy),
            Evidence::new(
                top.layer,
                "unique bytes",
                streams.unique_bytes as f64,
                format!("{unique} of {all}"),
            ),
            Evidence::new(top.layer, "processes per unique byte", sharing, plain(sharing))
                .expect("1")
                .supports_if(sharing > 1.2),
        ],
        cause: cause.into(),
        counter_evidence: "a benchmark that does so intentionally",
        fixes: texts([fix]),
        gain: Gain {
            seconds: load.busy_seconds * (1.0 - 1.0 / redundancy),
            formula: format!(
                "time with such a request open {:.2} s x (1 - 1 / {})",
                load.busy_seconds,
                plain(redundancy)
            ),
        },
        events: context.events(top.layer, &[Kind::Admit]),
        ..RuleMatch::at(top.layer, None)
    })
}
