//! T06: small contiguous requests that are not merged.

use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::{Kind, Layer};
use crate::numbers::{bytes, percent, plain};
use crate::reference::Metric;

pub(super) const RULE: Rule =
    Rule { title: "small requests, not merged", explains: &[Metric::RequestSize], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let blk = context.layer(Layer::Blk)?;
    let (size, runs) = (blk.load.size_bytes.avg, &blk.runs);
    let merge = context.all.boundary_below(Layer::Blk).map_or(1.0, |one| one.merge);
    if blk.data_requests() < 64 || size >= 65_536.0 || runs.zero_seek_share < 0.6 || merge > 1.2 {
        return None;
    }
    let depth = blk.load.concurrency.busy_avg.max(1.0);
    let run = runs.avg_bytes.clamp(size, 1_048_576.0);
    let speedup = (context.curve().throughput(run, depth) / context.curve().throughput(size, depth)).max(1.0);
    Some(RuleMatch {
        summary: format!("runs of {} reach the device in requests of {}", bytes(runs.avg_bytes), bytes(size)),
        evidence: vec![
            Evidence::new(Layer::Blk, "request size", size, bytes(size))
                .expect("at least 64 KiB")
                .of_metric(Metric::RequestSize),
            Evidence::new(
                Layer::Blk,
                "requests that continue the previous one",
                runs.zero_seek_share,
                percent(runs.zero_seek_share),
            ),
            Evidence::new(Layer::Blk, "requests merged into one", merge, plain(merge))
                .expect("more than 1.2"),
            Evidence::new(Layer::Blk, "average run", runs.avg_bytes, bytes(runs.avg_bytes))
                .supports_if(runs.avg_bytes > 4.0 * size),
        ],
        cause: "small contiguous requests are sent one by one: O_DIRECT, O_SYNC, or too little time to merge"
            .into(),
        counter_evidence: "a device that is as fast with small requests: `laggard trace calibrate` measures it",
        fixes: texts([
            "larger requests in the application, or buffered I/O",
            "a scheduler that merges: `echo mq-deadline > /sys/block/DEVICE/queue/scheduler`",
        ]),
        gain: Gain {
            seconds: blk.load.busy_seconds * (1.0 - 1.0 / speedup),
            formula: format!(
                "busy queue {:.2} s x (1 - rate of {} / rate of {}; {})",
                blk.load.busy_seconds,
                bytes(size),
                bytes(run),
                context.curve_source()
            ),
        },
        events: context.events(Layer::Blk, &[Kind::Admit]),
        ..RuleMatch::at(Layer::Blk, context.above(Layer::Blk))
    })
}
