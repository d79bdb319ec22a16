//! T08: more is read from the device than was requested.

use crate::characteristics::OpClass;
use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::Layer;
use crate::numbers::{bytes, percent, plain};
use crate::reference::Metric;

pub(super) const RULE: Rule =
    Rule { title: "read amplification", explains: &[Metric::ByteAmplification], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let device = context.device()?;
    let upper = context.first_of(&[Layer::Ssys, Layer::Sys, Layer::App])?;
    let below = device.op(OpClass::Read)?.bytes as f64;
    let above = upper.op(OpClass::Read).map_or(0.0, |load| load.bytes as f64);
    let amplification = below / above.max(1.0);
    if below < 1_048_576.0 || amplification <= 1.5 {
        return None;
    }
    let is_for_writes = above == 0.0;
    let misaligned = upper.misaligned.share;
    let shown = if is_for_writes { "reads, though none were requested".into() } else { plain(amplification) };
    let busy = device.load.busy_seconds;
    Some(RuleMatch {
        summary: format!("{} are read from the device, {} were requested", bytes(below), bytes(above)),
        evidence: vec![
            Evidence::new(device.layer, "bytes read per byte requested", amplification, shown)
                .expect("at most 1.2"),
            Evidence::new(upper.layer, "misaligned requests", misaligned, percent(misaligned))
                .supports_if(misaligned > 0.2 || device.readahead_efficiency.is_some()),
        ],
        cause: if is_for_writes {
            "writes of partial blocks make the kernel read the rest (read-modify-write)".into()
        } else {
            "more is read ahead than is used, or partial blocks are read as a whole".into()
        },
        counter_evidence: "a later read of the same bytes from the cache, outside the trace",
        fixes: texts([
            "less read-ahead, or posix_fadvise(POSIX_FADV_RANDOM) where access is random",
            "requests aligned to blocks and stripes",
        ]),
        gain: Gain {
            seconds: busy * (below / device.load.bytes.max(1) as f64) * (1.0 - 1.0 / amplification),
            formula: format!("busy device {busy:.2} s x share of reads x (1 - 1 / {})", plain(amplification)),
        },
        events: context.events_of_both(upper.layer, device.layer),
        ..RuleMatch::at(Layer::Cache, Some(upper.layer))
    })
}
