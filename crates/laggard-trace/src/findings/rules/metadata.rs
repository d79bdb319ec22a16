//! Requests about files rather than their bytes: T04.

use super::super::case::{Case, Draft, Gain, Signs};
use super::super::words::{count, nanoseconds, percent, plain};
use crate::characteristics::layer::OpClass;
use crate::model::{Event, Layer};

/// T04: a metadata request with every read or write.
pub fn with_every_request(case: &Case) -> Option<Draft> {
    let fuse = case.first_of(&[Layer::Fuse, Layer::Pfsc])?;
    let load = fuse.op(OpClass::Meta)?;
    let data = fuse.data_requests();
    if fuse.metadata.per_data <= 0.5 || data < 32 {
        return None;
    }
    let (most, times) = fuse.metadata.by_op.first()?;
    let share = *times as f64 / fuse.metadata.requests.max(1) as f64;
    let errno = fuse.errors.by_errno.iter().find(|(op, _, _)| op == most);
    let answer = errno.map_or_else(String::new, |(_, errno, number)| {
        format!(", {} answered with error {errno}", percent(*number as f64 / (*times).max(1) as f64))
    });
    let is_capability =
        most == "getxattr" && fuse.op(OpClass::Write).is_some_and(|writes| 2 * writes.requests > data);
    let signs = Signs::default()
        .see(
            fuse.layer,
            "metadata requests by data request",
            fuse.metadata.per_data,
            format!("{:.2}", fuse.metadata.per_data),
            "at most 0.1",
            true,
        )
        .see(
            fuse.layer,
            most,
            *times as f64,
            format!("{}{answer}", count(*times, "request")),
            "few",
            share > 0.5,
        )
        .see(fuse.layer, "time of one", load.latency_ns.avg, nanoseconds(load.latency_ns.avg), "", true);
    Some(Draft {
        layer: fuse.layer,
        upper: case.all.above(fuse.layer).map(|above| above.layer),
        says: format!(
            "{} {most} requests for {} reads and writes ({:.2} \
            each)",
            times, data, fuse.metadata.per_data
        ),
        signs,
        cause: if is_capability {
            "the kernel asks for the attribute security.capability before each write, and the answer \
                that there is none is not kept"
                .into()
        } else {
            format!("each request asks for {most} anew: the answer is not kept")
        },
        unless: "metadata requests of another job on the same mount".into(),
        fixes: vec![
            "larger writes: the question comes once for each".into(),
            "let the file system keep the answer, also that there is none (FUSE: \
                FUSE_HANDLE_KILLPRIV_V2, a cache of negative attributes)"
                .into(),
            "a writeback cache: `-o writeback_cache`".into(),
        ],
        gain: Gain {
            seconds: load.busy_seconds,
            formula: format!(
                "time with a metadata request open: {} x {}",
                count(load.requests, "request"),
                nanoseconds(load.latency_ns.avg)
            ),
        },
        events: mixed(case, fuse.layer),
        is_always_serious: false,
    })
    .filter(|_| plain(fuse.metadata.per_data) != "unknown")
}

/// Events that follow each other, both of metadata and of data.
fn mixed(case: &Case, layer: Layer) -> Vec<Event> {
    case.events(layer, &[])
}
