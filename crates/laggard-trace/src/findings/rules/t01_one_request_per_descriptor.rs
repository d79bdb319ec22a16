//! T01: POSIX aio of the C library serves a descriptor with one thread (paper 004, section 4.1).

use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::{Event, Kind, Layer};
use crate::numbers::{nanoseconds, plain};
use crate::reference::Metric;

pub(super) const RULE: Rule = Rule {
    title: "one request per descriptor",
    explains: &[Metric::ConcurrencyRatio, Metric::QueueRatio, Metric::MaxConcurrency],
    evaluate,
};

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let aio = context.layer(Layer::Aio)?;
    let lower = context.layer(context.all.boundary_below(Layer::Aio)?.lower)?;
    let (above, below) = (aio.load.concurrency.busy_avg, aio.below.concurrency.busy_avg.max(1.0));
    let queue_ratio = aio.timing.queue_ratio?;
    let max_per_fd = aio.below.max_per_fd;
    let max = aio.load.concurrency.max;
    if below / above >= 0.25 || queue_ratio <= 3.0 || max_per_fd > 1 || max < 4 {
        return None;
    }
    let speedup = context.curve().speedup(aio.load.size_bytes.avg, below, above);
    let (wait, service) = (nanoseconds(aio.timing.wait_ns.avg), nanoseconds(aio.timing.below_ns.avg));
    let lower_max = lower.load.concurrency.max;
    Some(RuleMatch {
        summary: format!("{max} requests in flight above, never more than {max_per_fd} below, per fd"),
        evidence: vec![
            Evidence::new(
                Layer::Aio,
                "concurrency",
                above,
                format!("{} above, {} below", plain(above), plain(below)),
            )
            .expect("at least half of it below"),
            Evidence::new(
                Layer::Aio,
                "maximum concurrency of a descriptor",
                f64::from(max_per_fd),
                max_per_fd.to_string(),
            )
            .expect("more than 1"),
            Evidence::new(
                Layer::Aio,
                "queue ratio",
                queue_ratio,
                format!("{} (wait time {wait}, service time {service})", plain(queue_ratio)),
            )
            .expect("at most 2")
            .of_metric(Metric::QueueRatio),
            Evidence::new(lower.layer, "maximum concurrency", f64::from(lower_max), lower_max.to_string())
                .expect(format!("up to {max}"))
                .supports_if(lower_max < max)
                .of_metric(Metric::MaxConcurrency),
        ],
        cause: format!(
            "POSIX asynchronous I/O of the C library serves each descriptor with one thread; {} \
                descriptor{} in use",
            aio.below.fds,
            if aio.below.fds == 1 { " is" } else { "s are" }
        ),
        counter_evidence: "two requests of one descriptor below at the same time",
        fixes: texts([
            "use io_uring or libaio instead of aio_read and aio_write",
            "or open the file (or dup the descriptor) once for each request in flight",
            "or serve requests with your own threads and pread/pwrite",
        ]),
        gain: Gain {
            seconds: context.all.seconds * (1.0 - 1.0 / speedup),
            formula: format!(
                "{:.2} s / speedup of the layers below from concurrency {} to {} ({}: {}x)",
                context.all.seconds,
                plain(below),
                plain(above),
                context.curve_source(),
                plain(speedup)
            ),
        },
        events: serial_events(context, lower.layer),
        ..RuleMatch::at(Layer::Aio, Some(Layer::Aio))
    })
}

/// ISSUE and COMPLT of the library where they were captured, else begin and end of its system calls.
fn serial_events(context: &Context, lower: Layer) -> Vec<Event> {
    let own = context.events(Layer::Aio, &[Kind::Issue, Kind::Complt]);
    if own.len() >= 4 { own } else { context.events(lower, &[Kind::Admit, Kind::Callback]) }
}
