//! T10: requests spend most of their time in the queue of the block layer.

use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::Layer;
use crate::numbers::{percent, plain};
use crate::reference::Metric;

pub(super) const RULE: Rule =
    Rule { title: "wait time in the queue", explains: &[Metric::QueueRatio], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let blk = context.layer(Layer::Blk)?;
    let dev = context.layer(Layer::Dev)?;
    let (wait, below, back) = (blk.timing.wait_ns.sum, blk.timing.below_ns.sum, blk.timing.return_ns.sum);
    let share = wait / (wait + below + back).max(1.0);
    let max = dev.load.concurrency.max;
    let at_limit = dev.load.concurrency.shares.get(max as usize).copied().unwrap_or(0.0);
    let is_at_limit = at_limit > 0.3 || max >= 32;
    if share <= 0.6 || blk.timing.wait_ns.count < 32 || !is_at_limit {
        return None;
    }
    let (queued, served) = (blk.load.concurrency.busy_avg, dev.load.concurrency.busy_avg.max(1.0));
    let speedup = context.curve().speedup(blk.load.size_bytes.avg, served, queued);
    Some(RuleMatch {
        summary: format!(
            "requests wait {} of their time for the device, whose queue depth reaches {max}",
            percent(share)
        ),
        evidence: vec![
            Evidence::new(Layer::Blk, "wait time", share, percent(share)).expect("at most 60 %"),
            Evidence::new(
                Layer::Dev,
                "time at the maximum queue depth",
                at_limit,
                format!("{} at {max}", percent(at_limit)),
            )
            .expect("below 30 %")
            .supports_if(at_limit > 0.3),
            Evidence::new(Layer::Blk, "concurrency", queued, plain(queued))
                .expect("about that of the device")
                .supports_if(queued > 2.0 * served),
        ],
        cause:
            "requests are delayed before the device: by its queue depth, the scheduler, or a throttle of a \
            control group"
                .into(),
        counter_evidence: "a device whose queue is as deep as is useful: then the device is the bottleneck",
        fixes: texts([
            "check /sys/block/DEVICE/queue/nr_requests and scheduler, and io.max of the control group",
            "if the device is saturated, spread the load over more devices",
        ]),
        gain: Gain {
            seconds: context.all.seconds * dev.path_share.max(blk.path_share) * (1.0 - 1.0 / speedup),
            formula: format!(
                "time in the device x (1 - 1 / speedup from queue depth {} to {}, {})",
                plain(served),
                plain(queued),
                context.curve_source()
            ),
        },
        events: context.events_of_both(Layer::Blk, Layer::Dev),
        ..RuleMatch::at(Layer::Blk, Some(Layer::Blk))
    })
}
