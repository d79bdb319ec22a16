//! T07: a sequential reader with a small read-ahead, and an idle device.

use crate::characteristics::OpClass;
use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::Layer;
use crate::numbers::{bytes, percent, plain};
use crate::reference::Metric;

pub(super) const RULE: Rule = Rule { title: "small read-ahead", explains: &[Metric::Idle], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let sys = context.first_of(&[Layer::Ssys, Layer::Sys])?;
    let device = context.device()?;
    // Only the layer right below the reader shows whether the reader waits while it is idle.
    let queue = context.first_of(&[Layer::Blk, Layer::Dev])?;
    let size = device.op(OpClass::Read)?.size_bytes.avg;
    let (contiguity, idle, held) = (sys.runs.contiguity, device.load.idle_share, queue.activity.held);
    let is_sequential = contiguity > 8.0 && sys.op(OpClass::Read).is_some_and(|load| load.requests >= 64);
    // Direct reads reach the device unchanged: there is no read-ahead.
    let is_cached = sys.cached_share.is_some_and(|share| share > 0.2);
    if !is_sequential || !is_cached || size > 131_072.0 || idle <= 0.3 || held < 0.1 {
        return None;
    }
    Some(RuleMatch {
        summary: format!(
            "a sequential reader causes requests of {} to a device that is idle {} of the time",
            bytes(size),
            percent(idle)
        ),
        evidence: vec![
            Evidence::new(sys.layer, "contiguity", contiguity, plain(contiguity))
                .expect("above 8: a sequential reader"),
            Evidence::new(device.layer, "request size", size, bytes(size)).expect("more than 128 KiB"),
            Evidence::new(device.layer, "idle", idle, percent(idle))
                .expect("at most 30 %")
                .of_metric(Metric::Idle),
            Evidence::new(device.layer, "idle while a reader waits", held, percent(held)).expect("none"),
        ],
        cause: "read-ahead is too small to keep the device busy".into(),
        counter_evidence: "direct reads (O_DIRECT): then the application's requests are too small",
        fixes: texts([
            "`echo 4096 > /sys/block/DEVICE/queue/read_ahead_kb`, or the client's read-ahead setting",
            "posix_fadvise(POSIX_FADV_SEQUENTIAL) in the application",
        ]),
        gain: Gain {
            seconds: held * context.all.seconds,
            formula: format!(
                "time in which the device is idle while readers wait: {} of {:.2} s",
                percent(held),
                context.all.seconds
            ),
        },
        events: context.events_of_both(sys.layer, device.layer),
        ..RuleMatch::at(Layer::Cache, Some(sys.layer))
    })
}
