//! What the application itself does: T17, T18.

use super::super::case::{Case, Draft, Gain, Signs};
use super::super::words::{bytes, nanoseconds, percent, plain};
use crate::characteristics::layer::OpClass;
use crate::model::{Class, Kind};

/// T17: the same bytes are read or written again and again.
pub fn redundant(case: &Case) -> Option<Draft> {
    let top = case.top()?;
    let sides = [(OpClass::Read, &top.read_streams), (OpClass::Write, &top.write_streams)];
    let (class, streams) = sides.into_iter().max_by(|a, b| a.1.redundancy.total_cmp(&b.1.redundancy))?;
    let load = top.op(class)?;
    // A file descriptor that is not known to be of a file has no bytes to compare.
    if streams.redundancy <= 1.5 || load.requests < 64 || streams.unique_bytes == 0 {
        return None;
    }
    let sharing = top.sharing.unwrap_or(1.0);
    let signs = Signs::default()
        .see(
            top.layer,
            "bytes by unique byte",
            streams.redundancy,
            plain(streams.redundancy),
            "at most 1.5",
            true,
        )
        .see(
            top.layer,
            "unique bytes",
            streams.unique_bytes as f64,
            format!("{} of {}", bytes(streams.unique_bytes as f64), bytes(load.bytes as f64)),
            "",
            true,
        )
        .see(top.layer, "processes that ask for the same", sharing, plain(sharing), "1", sharing > 1.2);
    let (cause, fix) = match class {
        OpClass::Read if sharing > 1.2 => (
            "several processes read the same bytes",
            "let one read and broadcast (collective I/O), or share a cache",
        ),
        OpClass::Read => (
            "the same bytes are read again and again",
            "keep them in memory, or let the page cache do so (no O_DIRECT)",
        ),
        _ => ("the same bytes are written again and again", "collect changes in memory, write them once"),
    };
    Some(Draft {
        layer: top.layer,
        upper: None,
        says: format!(
            "{} {} for {} of unique bytes",
            bytes(load.bytes as f64),
            if class == OpClass::Read { "read" } else { "written" },
            bytes(streams.unique_bytes as f64)
        ),
        signs,
        cause: cause.into(),
        unless: "a benchmark that does so on purpose".into(),
        fixes: vec![fix.into()],
        gain: Gain {
            seconds: load.busy_seconds * (1.0 - 1.0 / streams.redundancy),
            formula: format!(
                "time with such a request open {:.2} s x (1 - 1 / {})",
                load.busy_seconds,
                plain(streams.redundancy)
            ),
        },
        events: case.events(top.layer, &[Kind::Admit]),
        is_always_serious: false,
    })
}

/// T18: most of the time no request is open at all. Not a storage problem.
pub fn thinking(case: &Case) -> Option<Draft> {
    let top = case.top()?;
    let share = top.activity.outside;
    // From a device's queue nobody sees whether the application waits for something above it.
    let is_far_down = matches!(top.layer.class(), Class::Queue | Class::Device);
    if is_far_down || share <= 0.5 || top.load.requests < 16 {
        return None;
    }
    let signs = Signs::default()
        .see(top.layer, "time without a request", share, percent(share), "at most 50 %", true)
        .see(
            top.layer,
            "pause of a thread",
            top.think_ns.p50,
            format!(
                "{} in the median, {} at most",
                nanoseconds(top.think_ns.p50),
                nanoseconds(top.think_ns.max)
            ),
            "",
            true,
        );
    Some(Draft {
        layer: top.layer,
        upper: None,
        says: format!("no request is open {} of the time: not a storage problem", percent(share)),
        signs,
        cause: "the application computes, waits for something else, or pauses between requests".into(),
        unless: "requests of the application that were not captured (other processes, memory-mapped files)"
            .into(),
        fixes: vec![
            "look at the application: `perf top`, its own timing".into(),
            "overlap computing and I/O: asynchronous requests, a thread that reads ahead".into(),
        ],
        gain: Gain {
            seconds: 0.0,
            formula: "faster storage would bring at most the rest of the time".into(),
        },
        events: case.events(top.layer, &[Kind::Admit, Kind::Callback]),
        is_always_serious: false,
    })
}
