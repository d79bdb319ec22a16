//! The order of requests, and what is read ahead of them: T02, T07, T08.

use super::super::case::{Case, Draft, Gain, Signs};
use super::super::words::{bytes, nanoseconds, percent, plain};
use crate::characteristics::figures::LayerFigures;
use crate::characteristics::layer::OpClass;
use crate::model::{Kind, Layer};
use crate::reference::LONG_STREAM;

/// T02: streams that would be sequential, taken in turns (paper 004, section 4.2).
pub fn interleaved(case: &Case) -> Option<Draft> {
    let layers = [Layer::Pfss, Layer::Ssys, Layer::Sys, Layer::Blk];
    let layer = layers.iter().filter_map(|layer| case.layer(*layer)).find(|layer| is_interleaved(layer))?;
    let (runs, streams) = (&layer.runs, layer.streams());
    // Streams that are apart can be counted; those that touch show in how long the runs are.
    let apart = if streams.long > 1 { streams.long as f64 } else { f64::INFINITY };
    let interleave = runs.interleave.unwrap_or(f64::INFINITY).min(apart).min(runs.requests as f64);
    let (seconds, formula) = interleaving_cost(case, layer);
    let above = case.all.above(layer.layer).unwrap_or(layer);
    let several = above.threads.max(layer.threads);
    let signs = Signs::default()
        .see(
            layer.layer,
            "average run",
            runs.avg_bytes,
            bytes(runs.avg_bytes),
            &format!("more than {} requests of {}", 2, bytes(layer.load.size_bytes.avg)),
            true,
        )
        .see(
            layer.layer,
            "average stream",
            streams.avg_bytes,
            bytes(streams.avg_bytes),
            "about as long as a run",
            true,
        )
        .see(layer.layer, "contiguity", runs.contiguity, plain(runs.contiguity), "at least 4", true)
        .see(
            layer.layer,
            "near-sequential requests",
            runs.near_sequential_share,
            percent(runs.near_sequential_share),
            "as many as go on where the last one ended",
            runs.near_sequential_share > runs.zero_seek_share + 0.2,
        )
        .see(
            layer.layer,
            "requests that go on where the last one ended",
            runs.zero_seek_share,
            percent(runs.zero_seek_share),
            "at least 50 %",
            runs.zero_seek_share < 0.5,
        );
    Some(Draft {
        layer: layer.layer,
        upper: case.all.above(layer.layer).map(|above| above.layer),
        says: format!(
            "streams of {} are taken in runs of {}, as if {} streams took turns",
            bytes(streams.avg_bytes),
            bytes(runs.avg_bytes),
            interleave.round()
        ),
        signs,
        cause: format!(
            "about {} sequential streams are interleaved ({several} threads above); prefetching and \
                scheduling below see no sequence",
            interleave.round()
        ),
        unless: "requests that continue none of the last 64 streams: that is random access, not \
            interleaving"
            .into(),
        fixes: vec![
            "larger requests, or collective I/O, so that one run carries more".into(),
            "a descriptor for each stream, so that the kernel reads each ahead by itself".into(),
            "more read-ahead at the server: `echo 8192 > /sys/block/DEVICE/queue/read_ahead_kb`".into(),
        ],
        gain: Gain { seconds, formula },
        events: run_events(case, layer),
        is_always_serious: false,
    })
}

fn is_interleaved(layer: &LayerFigures) -> bool {
    let size = layer.load.size_bytes.avg;
    let (runs, streams) = (&layer.runs, layer.streams());
    let has_turns = runs.near_sequential_share > 0.5;
    runs.requests >= 64
        && streams.avg_bytes >= LONG_STREAM * size
        && runs.contiguity < 2.0
        && runs.interleave.is_none_or(|k| k >= 2.0)
        && has_turns
}

fn run_events(case: &Case, layer: &LayerFigures) -> Vec<crate::model::Event> {
    let issued = case.events(layer.layer, &[Kind::Issue]);
    if issued.len() >= 4 { issued } else { case.events(layer.layer, &[Kind::Admit]) }
}

/// What seeking costs: as calibrated, or as the device itself shows.
fn interleaving_cost(case: &Case, layer: &LayerFigures) -> (f64, String) {
    let Some(device) = case.device() else {
        return (0.0, "not known: no layer of a device was captured".into());
    };
    let (depth, busy) = (device.load.concurrency.busy_avg.max(1.0), device.load.busy_seconds);
    if case.curve().is_calibrated() {
        let (now, then) = (device.runs.avg_bytes.max(layer.runs.avg_bytes), layer.streams().avg_bytes);
        let faster = case.curve().throughput(then, depth) / case.curve().throughput(now, depth);
        let seconds = busy * (1.0 - 1.0 / faster.max(1.0));
        return (
            seconds,
            format!(
                "busy device {busy:.2} s x (1 - rate of runs of {} / rate of runs of {}, as calibrated)",
                bytes(now),
                bytes(then)
            ),
        );
    }
    match device.apart.penalty_ns {
        Some(penalty) => {
            let apart = device.apart.share * device.data_requests() as f64;
            let seconds = (penalty / 1e9 * apart / depth).clamp(0.0, busy);
            (
                seconds,
                format!(
                    "{} requests that do not go on where the last ended x {} more each than \
                others of their size / {} at once",
                    plain(apart),
                    nanoseconds(penalty.max(0.0)),
                    plain(depth)
                ),
            )
        }
        None => (
            0.0,
            "not known: the device served no sequential requests to compare with; `laggard \
            trace calibrate` tells"
                .into(),
        ),
    }
}

/// T07: a sequential reader, small requests below, and a device that rests.
pub fn too_little_ahead(case: &Case) -> Option<Draft> {
    let sys = case.first_of(&[Layer::Ssys, Layer::Sys])?;
    let device = case.device()?;
    // Only the layer right below the reader knows whom it lets wait.
    let queue = case.first_of(&[Layer::Blk, Layer::Dev])?;
    let reads = device.op(OpClass::Read)?;
    let size = reads.size_bytes.avg;
    let is_sequential =
        sys.runs.contiguity > 8.0 && sys.op(OpClass::Read).is_some_and(|load| load.requests >= 64);
    // Direct reads go below as they are: there is nothing ahead.
    let is_cached = sys.cached_share.is_some_and(|share| share > 0.2);
    if !is_sequential
        || !is_cached
        || size > 131_072.0
        || device.load.idle_share <= 0.3
        || queue.activity.held < 0.1
    {
        return None;
    }
    let seconds = queue.activity.held * case.all.seconds;
    let signs = Signs::default()
        .see(
            sys.layer,
            "contiguity",
            sys.runs.contiguity,
            plain(sys.runs.contiguity),
            "above 8: a sequential reader",
            true,
        )
        .see(device.layer, "request size", size, bytes(size), "more than 128 KiB", true)
        .see(
            device.layer,
            "idle",
            device.load.idle_share,
            percent(device.load.idle_share),
            "at most 30 %",
            true,
        )
        .see(
            device.layer,
            "idle while a reader waits",
            queue.activity.held,
            percent(queue.activity.held),
            "none",
            true,
        );
    Some(Draft {
        layer: Layer::Cache,
        upper: Some(sys.layer),
        says: format!(
            "a sequential reader gets requests of {} from a device that is idle {} of the time",
            bytes(size),
            percent(device.load.idle_share)
        ),
        signs,
        cause: "read-ahead is too small to keep the device busy".into(),
        unless: "reads past the page cache (O_DIRECT): then the application's requests are too \
            small"
            .into(),
        fixes: vec![
            "`echo 4096 > /sys/block/DEVICE/queue/read_ahead_kb`, or the client's read-ahead \
                setting"
                .into(),
            "posix_fadvise(POSIX_FADV_SEQUENTIAL) in the application".into(),
        ],
        gain: Gain {
            seconds,
            formula: format!(
                "time in which the device rests while readers wait: {} of {:.2} s",
                percent(queue.activity.held),
                case.all.seconds
            ),
        },
        events: case.events_of_both(sys.layer, device.layer),
        is_always_serious: false,
    })
}

/// T08: more comes from below than was asked for.
pub fn too_much_read(case: &Case) -> Option<Draft> {
    let device = case.device()?;
    let upper = case.first_of(&[Layer::Ssys, Layer::Sys, Layer::App])?;
    let (below, above) = (
        device.op(OpClass::Read)?.bytes as f64,
        upper.op(OpClass::Read).map_or(0.0, |load| load.bytes as f64),
    );
    let amplification = below / above.max(1.0);
    let is_for_writes = above == 0.0;
    if below < 1_048_576.0 || amplification <= 1.5 {
        return None;
    }
    let seconds =
        device.load.busy_seconds * (below / device.load.bytes.max(1) as f64) * (1.0 - 1.0 / amplification);
    let signs = Signs::default()
        .see(
            device.layer,
            "bytes read by byte asked for",
            amplification,
            if is_for_writes { "reads though nobody reads".into() } else { plain(amplification) },
            "at most 1.2",
            true,
        )
        .see(
            upper.layer,
            "misaligned requests",
            upper.misaligned.share,
            percent(upper.misaligned.share),
            "",
            upper.misaligned.share > 0.2 || device.readahead_efficiency.is_some(),
        );
    Some(Draft {
        layer: Layer::Cache,
        upper: Some(upper.layer),
        says: format!("{} are read from the device for {} that were asked for", bytes(below), bytes(above)),
        signs,
        cause: if is_for_writes {
            "writes of parts of blocks make the kernel read the rest (read-modify-write)".into()
        } else {
            "more is read ahead than is used, or parts of blocks are read whole".into()
        },
        unless: "a later read of the same bytes from the cache, outside the trace".into(),
        fixes: vec![
            "less read-ahead, or posix_fadvise(POSIX_FADV_RANDOM) where access is random".into(),
            "requests aligned to blocks and stripes".into(),
        ],
        gain: Gain {
            seconds,
            formula: format!(
                "busy device {:.2} s x share of reads x (1 - 1 / {})",
                device.load.busy_seconds,
                plain(amplification)
            ),
        },
        events: case.events_of_both(upper.layer, device.layer),
        is_always_serious: false,
    })
}
