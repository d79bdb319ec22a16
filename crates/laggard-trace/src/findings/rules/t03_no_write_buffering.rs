//! T03: the server is idle while the client waits for each small write (paper 004, section 4.3).

use crate::characteristics::OpClass;
use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::Layer;
use crate::numbers::{bytes, nanoseconds, percent, plain};
use crate::reference::Metric;

const MEBIBYTE: f64 = 1_048_576.0;

pub(super) const RULE: Rule =
    Rule { title: "no write buffering", explains: &[Metric::Idle, Metric::EarlyAck], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let server = context.first_of(&[Layer::Pfss, Layer::Ssys])?;
    let top = context.top()?;
    let boundary = context.all.boundary_above(server.layer)?;
    let client = context.layer(boundary.upper)?;
    let writes = client.op(OpClass::Write)?;
    let early = boundary.early_ack_share?;
    let size = top.op(OpClass::Write)?.size_bytes.avg;
    // Syncs and requests of other clients do not show how busy writes keep the server.
    let served = server.op(OpClass::Write)?;
    let is_idle = served.idle_share > 0.5 && served.concurrency.avg < 0.5;
    if !is_idle || top.load.concurrency.avg < 0.8 || early > 0.1 || size >= MEBIBYTE || writes.requests < 32 {
        return None;
    }
    let (latency_ns, service_ns) = (writes.latency_ns.avg, served.latency_ns.avg);
    let times = format!("{}, of which the server takes {}", nanoseconds(latency_ns), nanoseconds(service_ns));
    let (busy, served_busy) = (writes.busy_seconds, served.busy_seconds);
    Some(RuleMatch {
        summary: format!(
            "each write of {} waits for the server, which is idle {} of the time",
            bytes(size),
            percent(served.idle_share)
        ),
        evidence: vec![
            Evidence::new(server.layer, "time without writes", served.idle_share, percent(served.idle_share))
                .expect("at most 50 %"),
            Evidence::new(server.layer, "concurrency", served.concurrency.avg, plain(served.concurrency.avg))
                .expect("at least 0.5"),
            Evidence::new(
                top.layer,
                "concurrency",
                top.load.concurrency.avg,
                plain(top.load.concurrency.avg),
            ),
            Evidence::new(client.layer, "writes acknowledged early", early, percent(early))
                .expect("at least 50 %"),
            Evidence::new(client.layer, "latency of a write", latency_ns, times)
                .expect("about the time of a copy")
                .supports_if(latency_ns > 2.0 * service_ns),
        ],
        cause: "the file system's client does not buffer writes: each one blocks until the server has it"
            .into(),
        counter_evidence: "writes that are acknowledged before the server has them, or intentional \
            synchronous writes (O_SYNC)",
        fixes: texts([
            "enable write-behind in the client: `gluster volume set VOLUME performance.write-behind on`",
            "or mount with a writeback cache (FUSE: `-o writeback_cache`)",
            "or make larger or asynchronous writes in the application",
        ]),
        gain: Gain {
            seconds: (busy - served_busy).max(0.0),
            formula: format!(
                "time with an open write at {} {busy:.2} s - service time of the server {served_busy:.2} s",
                client.layer
            ),
        },
        events: context.events_of_both(client.layer, server.layer),
        ..RuleMatch::at(boundary.upper, Some(boundary.upper))
    })
}
