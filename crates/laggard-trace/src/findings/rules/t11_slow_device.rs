//! T11: the device is slower than when it was calibrated.

use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::numbers::{bytes, nanoseconds, plain};
use crate::reference::{Metric, Source};

pub(super) const RULE: Rule =
    Rule { title: "slow device", explains: &[Metric::ReadLatency, Metric::WriteLatency], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let device = context.device()?;
    let (size, depth) = (device.load.size_bytes.p50, device.load.concurrency.busy_avg.max(1.0));
    let expected_ns = context.curve().p50_us(size, depth)? * 1e3;
    let latency_ns = device.load.latency_ns.p50;
    let factor = latency_ns / expected_ns.max(1.0);
    if factor <= 3.0 || device.load.latency_ns.count < 32 {
        return None;
    }
    let (latency, expected) = (nanoseconds(latency_ns), nanoseconds(expected_ns));
    let busy = device.load.busy_seconds;
    Some(RuleMatch {
        summary: format!(
            "requests of {} take {latency}, {} times as long as calibrated",
            bytes(size),
            plain(factor)
        ),
        evidence: vec![
            Evidence {
                source: Source::Calibrated,
                ..Evidence::new(device.layer, "median latency", latency_ns, &*latency)
                    .expect(format!("about {expected}"))
            },
            Evidence::new(device.layer, "queue depth", depth, plain(depth)),
        ],
        cause: "the device is slower than it was (fail-slow), or other hosts or programs load it".into(),
        counter_evidence: "requests of other programs on the same device: check with `laggard diagnose` and iotop",
        fixes: texts([
            "check `smartctl -a`, the state of the RAID and the kernel log",
            "compare with its peers: `laggard record` on all servers, then `laggard diagnose`",
        ]),
        gain: Gain {
            seconds: busy * (1.0 - 1.0 / factor),
            formula: format!("busy device {busy:.2} s x (1 - {expected} / {latency})"),
        },
        events: context.slowest_events(device.layer),
        ..RuleMatch::at(device.layer, Some(device.layer))
    })
}
