//! T05: one request is split into many at a boundary.

use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch};
use crate::model::Layer;
use crate::numbers::{bytes, plain};
use crate::reference::Metric;

pub(super) const RULE: Rule = Rule { title: "split requests", explains: &[Metric::Split], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let boundary = context
        .all
        .boundaries
        .iter()
        .filter(|one| one.split > 4.0 && one.links >= 16)
        .max_by(|a, b| a.split.total_cmp(&b.split))?;
    let (upper, lower) = (context.layer(boundary.upper)?, context.layer(boundary.lower)?);
    let (split, sizes) = (boundary.split, &lower.load.size_bytes);
    let (asked, got) = (upper.load.size_bytes.avg, sizes.avg);
    let (cause, fix) = size_limit(boundary.lower, sizes.max);
    let own = upper.timing.self_seconds / upper.load.concurrency.busy_avg.max(1.0);
    let is_even = sizes.p50 >= 0.9 * sizes.max;
    let even = if is_even { ", like most requests" } else { "" };
    Some(RuleMatch {
        summary: format!("requests of {} are split into {} of {}", bytes(asked), plain(split), bytes(got)),
        evidence: vec![
            Evidence::new(boundary.lower, "requests per request above", split, plain(split))
                .expect("at most 4")
                .of_metric(Metric::Split),
            Evidence::new(boundary.lower, "request size", got, format!("{} of {}", bytes(got), bytes(asked))),
            Evidence::new(
                boundary.lower,
                "largest request",
                sizes.max,
                format!("{}{even}", bytes(sizes.max)),
            )
            .supports_if(is_even),
        ],
        cause,
        counter_evidence: "requests that go to different servers in parallel: that is striping, and intended",
        fixes: vec![fix, "align requests to stripes, so that none is split twice".into()],
        gain: Gain {
            seconds: own * (1.0 - 1.0 / split),
            formula: format!(
                "time at {} without a request below {own:.2} s x (1 - 1 / {})",
                boundary.upper,
                plain(split)
            ),
        },
        events: context.events_of_both(boundary.upper, boundary.lower),
        ..RuleMatch::at(boundary.lower, Some(boundary.upper))
    })
}

/// The cause and the fix.
fn size_limit(lower: Layer, largest: f64) -> (String, String) {
    let largest = bytes(largest);
    match lower {
        Layer::Fuse => (
            format!("FUSE max_write limits a request to {largest}"),
            "raise the limit: mount with `-o max_write=1048576` and raise /proc/sys/fs/fuse/max_pages_limit, \
                if the daemon allows it"
                .into(),
        ),
        Layer::Blk | Layer::Dev => (
            format!("the device accepts requests of up to {largest} (max_sectors_kb), or the file is fragmented"),
            "raise /sys/block/DEVICE/queue/max_sectors_kb; defragment or preallocate the file".into(),
        ),
        Layer::Net | Layer::Pfsc | Layer::Pfss => (
            format!("the protocol carries up to {largest} per request (rsize/wsize, stripe size)"),
            "raise rsize and wsize, or the stripe size of the file".into(),
        ),
        _ => (format!("requests of this layer are limited to {largest}"), "raise that limit".into()),
    }
}
