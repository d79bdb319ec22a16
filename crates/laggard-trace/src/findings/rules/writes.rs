//! Writes and making them durable: T03, T09, T19.

use super::super::case::{Case, Draft, Gain, Signs};
use super::super::words::{bytes, nanoseconds, percent, plain};
use crate::characteristics::layer::OpClass;
use crate::model::{Kind, Layer};

const MEBIBYTE: f64 = 1_048_576.0;

/// T03: the server rests while the client waits for each small write to come back (paper 004, section 4.3).
pub fn unbuffered(case: &Case) -> Option<Draft> {
    let server = case.first_of(&[Layer::Pfss, Layer::Ssys])?;
    let top = case.top()?;
    let boundary = case.all.boundary_above(server.layer)?;
    let client = case.layer(boundary.upper)?;
    let writes = client.op(OpClass::Write)?;
    let early = boundary.early_ack_share?;
    let asked = top.op(OpClass::Write)?.size_bytes.avg;
    // Syncs and others' requests do not tell whether writes keep it busy.
    let served = server.op(OpClass::Write)?;
    let is_idle = served.idle_share > 0.5 && served.concurrency.avg < 0.5;
    if !is_idle || top.load.concurrency.avg < 0.8 || early > 0.1 || asked >= MEBIBYTE || writes.requests < 32
    {
        return None;
    }
    let seconds = (writes.busy_seconds - served.busy_seconds).max(0.0);
    let signs = Signs::default()
        .see(
            server.layer,
            "idle of writes",
            served.idle_share,
            percent(served.idle_share),
            "at most 50 %",
            true,
        )
        .see(
            server.layer,
            "concurrency",
            served.concurrency.avg,
            plain(served.concurrency.avg),
            "at least 0.5",
            true,
        )
        .see(top.layer, "concurrency", top.load.concurrency.avg, plain(top.load.concurrency.avg), "", true)
        .see(client.layer, "writes acknowledged early", early, percent(early), "at least 50 %", true)
        .see(
            client.layer,
            "time of a write",
            writes.latency_ns.avg,
            format!(
                "{}, of which the server works {}",
                nanoseconds(writes.latency_ns.avg),
                nanoseconds(served.latency_ns.avg)
            ),
            "about what copying takes",
            writes.latency_ns.avg > 2.0 * served.latency_ns.avg,
        );
    Some(Draft {
        layer: boundary.upper,
        upper: Some(boundary.upper),
        says: format!(
            "each write of {} waits for the server, which is idle {} of the time",
            bytes(asked),
            percent(served.idle_share)
        ),
        signs,
        cause: "the client of the file system does not buffer writes: each blocks until the server has it"
            .into(),
        unless: "writes that are acknowledged before the server has them, or synchronous ones (O_SYNC) on \
                purpose"
            .into(),
        fixes: vec![
            "turn the client's write-behind on: `gluster volume set VOLUME performance.write-behind on`"
                .into(),
            "or mount with a writeback cache (FUSE: `-o writeback_cache`)".into(),
            "or make larger or asynchronous writes in the application".into(),
        ],
        gain: Gain {
            seconds,
            formula: format!(
                "time with a write open at {} {:.2} s - time the server works {:.2} s",
                client.layer, writes.busy_seconds, served.busy_seconds
            ),
        },
        events: case.events_of_both(client.layer, server.layer),
        is_always_serious: false,
    })
}

/// T09: a sync for every few writes.
pub fn sync_storm(case: &Case) -> Option<Draft> {
    let layer = case.all.layers.iter().find(|layer| {
        let syncs = layer.op(OpClass::Sync).map_or(0, |load| load.requests);
        syncs >= 8 && layer.sync.per_write > 0.2 && layer.sync.time_share > 0.2
    })?;
    let syncs = layer.op(OpClass::Sync)?;
    // As many as one for twenty writes are left.
    let kept = (0.05 / layer.sync.per_write).min(1.0);
    let seconds = syncs.busy_seconds * (1.0 - kept);
    let signs = Signs::default()
        .see(
            layer.layer,
            "syncs by write",
            layer.sync.per_write,
            plain(layer.sync.per_write),
            "at most 0.05",
            true,
        )
        .see(
            layer.layer,
            "time in a sync",
            layer.sync.time_share,
            percent(layer.sync.time_share),
            "at most 20 %",
            true,
        )
        .see(
            layer.layer,
            "time of a sync",
            syncs.latency_ns.avg,
            nanoseconds(syncs.latency_ns.avg),
            "",
            layer.op(OpClass::Write).is_none_or(|writes| syncs.latency_ns.avg > writes.latency_ns.avg),
        );
    Some(Draft {
        layer: layer.layer,
        upper: None,
        says: format!(
            "{} syncs for {} writes take {} of the time",
            syncs.requests,
            layer.op(OpClass::Write).map_or(0, |load| load.requests),
            percent(layer.sync.time_share)
        ),
        signs,
        cause: "the application makes every few writes durable by themselves (fsync storm)".into(),
        unless: "a promise to others that each of these writes is durable".into(),
        fixes: vec![
            "group commits: one fsync for many writes".into(),
            "fdatasync in place of fsync, and files of their final size, so that no metadata is written"
                .into(),
        ],
        gain: Gain {
            seconds,
            formula: format!("time in syncs {:.2} s x (1 - {})", syncs.busy_seconds, plain(kept)),
        },
        events: case.all.album.of(layer.layer).first[OpClass::Sync as usize].clone(),
        is_always_serious: false,
    })
}

/// T19: the kernel holds writers back, since too much is not yet written back.
pub fn throttled(case: &Case) -> Option<Draft> {
    let throttled = case.all.quality.throttled;
    let sys = case.first_of(&[Layer::Sys, Layer::Ssys])?;
    let writes = sys.op(OpClass::Write)?;
    let tail = writes.latency_ns.p99 / writes.latency_ns.p50.max(1.0);
    if throttled.count < 4 || tail < 5.0 {
        return None;
    }
    let depth = writes.concurrency.busy_avg.max(1.0);
    let signs = Signs::default()
        .see(
            Layer::Cache,
            "writers held back",
            throttled.count as f64,
            format!("{} times, {:.2} s in all", throttled.count, throttled.seconds),
            "never",
            true,
        )
        .see(sys.layer, "p99 of writes by their median", tail, plain(tail), "below 5", true)
        .see(
            sys.layer,
            "time held back",
            throttled.seconds / depth / case.all.seconds.max(1e-9),
            percent(throttled.seconds / depth / case.all.seconds.max(1e-9)),
            "",
            throttled.seconds > 0.0,
        );
    Some(Draft {
        layer: Layer::Cache,
        upper: Some(sys.layer),
        says: format!(
            "the kernel held writers back {} times, for {:.2} s in \
            all",
            throttled.count, throttled.seconds
        ),
        signs,
        cause: "more is written than the device takes; at the dirty limit writers are slowed down".into(),
        unless: "a control group with little memory of its own: its limit counts, not the host's".into(),
        fixes: vec![
            "faster or more devices: the limit only hides for how long".into(),
            "vm.dirty_background_bytes lower, so that writing back begins earlier; vm.dirty_bytes higher \
                for short bursts"
                .into(),
        ],
        gain: Gain {
            seconds: (throttled.seconds / depth).min(case.all.seconds),
            formula: format!(
                "time held back {:.2} s / {} writers at \
                once",
                throttled.seconds,
                plain(depth)
            ),
        },
        events: slow_writes(case, sys.layer),
        is_always_serious: false,
    })
}

fn slow_writes(case: &Case, layer: Layer) -> Vec<crate::model::Event> {
    let slowest = &case.all.album.of(layer).slowest;
    let events = case.events_of(slowest);
    if events.is_empty() { case.events(layer, &[Kind::Admit, Kind::Callback]) } else { events }
}
