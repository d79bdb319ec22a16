//! Sizes of requests, and where they begin: T05, T06, T16.

use super::super::case::{Case, Draft, Gain, Signs};
use super::super::words::{bytes, nanoseconds, percent, plain};
use crate::model::{Kind, Layer};

/// T05: one request becomes many at a boundary.
pub fn cut_up(case: &Case) -> Option<Draft> {
    let boundary = case
        .all
        .boundaries
        .iter()
        .filter(|one| one.split > 4.0 && one.links >= 16)
        .max_by(|a, b| a.split.total_cmp(&b.split))?;
    let (upper, lower) = (case.layer(boundary.upper)?, case.layer(boundary.lower)?);
    let (asked, got) = (upper.load.size_bytes.avg, lower.load.size_bytes.avg);
    let (limit, fix) = limit(boundary.lower, lower.load.size_bytes.max);
    let own = upper.timing.self_seconds / upper.load.concurrency.busy_avg.max(1.0);
    let seconds = own * (1.0 - 1.0 / boundary.split);
    let is_even = lower.load.size_bytes.p50 >= 0.9 * lower.load.size_bytes.max;
    let signs = Signs::default()
        .see(
            boundary.lower,
            "requests by request above",
            boundary.split,
            plain(boundary.split),
            "at most 4",
            true,
        )
        .see(boundary.lower, "request size", got, format!("{} of {}", bytes(got), bytes(asked)), "", true)
        .see(
            boundary.lower,
            "largest request",
            lower.load.size_bytes.max,
            format!("{}{}", bytes(lower.load.size_bytes.max), if is_even { ", as most are" } else { "" }),
            "",
            is_even,
        );
    Some(Draft {
        layer: boundary.lower,
        upper: Some(boundary.upper),
        says: format!(
            "requests of {} are cut into {} of {}",
            bytes(asked),
            plain(boundary.split),
            bytes(got)
        ),
        signs,
        cause: limit,
        unless: "parts that go to different servers at the same time: that is striping, and wanted".into(),
        fixes: vec![fix, "align requests to stripes, so that none is cut twice".into()],
        gain: Gain {
            seconds,
            formula: format!(
                "time at {} with no part below {:.2} s x (1 - 1 / {})",
                boundary.upper,
                own,
                plain(boundary.split)
            ),
        },
        events: case.events_of_both(boundary.upper, boundary.lower),
        is_always_serious: false,
    })
}

fn limit(lower: Layer, largest: f64) -> (String, String) {
    match lower {
        Layer::Fuse => (
            format!("FUSE max_write limits a request to {}", bytes(largest)),
            "raise the limit: mount with `-o max_write=1048576` and /proc/sys/fs/fuse/max_pages_limit, \
                where the daemon allows it"
                .into(),
        ),
        Layer::Blk | Layer::Dev => (
            format!(
                "the device takes at most {} at once (max_sectors_kb), or the file is in \
                pieces",
                bytes(largest)
            ),
            "raise /sys/block/DEVICE/queue/max_sectors_kb; defragment or preallocate the file".into(),
        ),
        Layer::Net | Layer::Pfsc | Layer::Pfss => (
            format!(
                "the protocol carries at most {} in a request (rsize/wsize, stripe \
                size)",
                bytes(largest)
            ),
            "raise rsize and wsize, or the stripe size of the file".into(),
        ),
        _ => (format!("requests of this layer have at most {}", bytes(largest)), "raise that limit".into()),
    }
}

/// T06: small requests next to each other that nobody merges.
pub fn unmerged(case: &Case) -> Option<Draft> {
    let blk = case.layer(Layer::Blk)?;
    let size = blk.load.size_bytes.avg;
    let boundary = case.all.boundary_below(Layer::Blk);
    let merge = boundary.map_or(1.0, |one| one.merge);
    if blk.data_requests() < 64 || size >= 65_536.0 || blk.runs.zero_seek_share < 0.6 || merge > 1.2 {
        return None;
    }
    let depth = blk.load.concurrency.busy_avg.max(1.0);
    let run = blk.runs.avg_bytes.clamp(size, 1_048_576.0);
    let faster = (case.curve().throughput(run, depth) / case.curve().throughput(size, depth)).max(1.0);
    let seconds = blk.load.busy_seconds * (1.0 - 1.0 / faster);
    let above = case.all.above(Layer::Blk);
    let signs = Signs::default()
        .see(Layer::Blk, "request size", size, bytes(size), "at least 64 KiB", true)
        .see(
            Layer::Blk,
            "requests that go on where the last one ended",
            blk.runs.zero_seek_share,
            percent(blk.runs.zero_seek_share),
            "",
            true,
        )
        .see(Layer::Blk, "merged into one", merge, plain(merge), "more than 1.2", true)
        .see(
            Layer::Blk,
            "average run",
            blk.runs.avg_bytes,
            bytes(blk.runs.avg_bytes),
            "",
            blk.runs.avg_bytes > 4.0 * size,
        );
    Some(Draft {
        layer: Layer::Blk,
        upper: above.map(|above| above.layer),
        says: format!(
            "runs of {} reach the device in requests of {}",
            bytes(blk.runs.avg_bytes),
            bytes(size)
        ),
        signs,
        cause: "small requests that lie together are sent one by one: O_DIRECT, O_SYNC, or no time to \
            merge \
                them"
            .into(),
        unless: "a device that is as fast with small requests: `laggard trace calibrate` tells".into(),
        fixes: vec![
            "larger requests in the application, or through the page cache".into(),
            "a scheduler that merges: `echo mq-deadline > /sys/block/DEVICE/queue/scheduler`".into(),
        ],
        gain: Gain {
            seconds,
            formula: format!(
                "busy queue {:.2} s x (1 - rate of {} / rate of {}; {})",
                blk.load.busy_seconds,
                bytes(size),
                bytes(run),
                case.curve_words()
            ),
        },
        events: case.events(Layer::Blk, &[Kind::Admit]),
        is_always_serious: false,
    })
}

/// T16: requests that do not begin or end at a page, and take longer for it.
pub fn misaligned(case: &Case) -> Option<Draft> {
    let layer = case.all.layers.iter().rev().find(|layer| {
        layer.misaligned.share > 0.2 && layer.misaligned.penalty_ns.is_some_and(|penalty| penalty > 0.0)
    })?;
    let (penalty, plainly) = (layer.misaligned.penalty_ns?, layer.misaligned.without_ns?.max(1.0));
    if penalty / plainly < 0.1 {
        return None;
    }
    let number = layer.misaligned.share * layer.data_requests() as f64;
    let depth = layer.load.concurrency.busy_avg.max(1.0);
    let seconds = penalty / 1e9 * number / depth;
    let signs = Signs::default()
        .see(
            layer.layer,
            "misaligned requests",
            layer.misaligned.share,
            percent(layer.misaligned.share),
            "at most 20 %",
            true,
        )
        .see(
            layer.layer,
            "how much longer they take",
            penalty,
            format!("{} more than {}", nanoseconds(penalty), nanoseconds(plainly)),
            "no longer",
            true,
        );
    Some(Draft {
        layer: layer.layer,
        upper: case.all.above(layer.layer).map(|above| above.layer),
        says: format!(
            "{} of requests are not aligned to 4 KiB, and take {} longer \
            each",
            percent(layer.misaligned.share),
            nanoseconds(penalty)
        ),
        signs,
        cause: "requests that begin or end within a page, sector or stripe: the rest is read first, or \
            two servers are asked"
            .into(),
        unless: "aligned requests of another kind, which are faster for another reason".into(),
        fixes: vec!["align offsets and sizes to 4 KiB at least, better to the stripe".into()],
        gain: Gain {
            seconds,
            formula: format!(
                "{} misaligned requests x {} more than aligned ones of their size / {} at \
                once",
                plain(number),
                nanoseconds(penalty),
                plain(depth)
            ),
        },
        events: case.events(layer.layer, &[Kind::Admit, Kind::Callback]),
        is_always_serious: false,
    })
}
