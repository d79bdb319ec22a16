//! T21: requests fail or are requeued.

use crate::characteristics::LayerMetrics;
use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::numbers::count;
use crate::reference::Metric;

pub(super) const RULE: Rule = Rule { title: "errors", explains: &[Metric::Errors], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let has_errors = |layer: &&LayerMetrics| layer.errors.failed + layer.errors.requeued > 0;
    let metrics = context.all.layers.iter().rev().find(has_errors)?;
    let (layer, errors) = (metrics.layer, &metrics.errors);
    let (failed, requeued) = (errors.failed, errors.requeued);
    let (what, cause) = if failed > 0 {
        let most = errors.by_errno.iter().max_by_key(|(_, _, times)| *times);
        let (op, errno, times) = most.map_or(("", 0, 0), |(op, errno, times)| (op.name(), *errno, *times));
        (
            format!("failed or were requeued, most of them {op} with error {errno}"),
            format!("errors of the medium or of the path to it ({times} x {op}, error {errno})"),
        )
    } else {
        let cause = "the device or its driver could not accept them: a full queue, or a faulty path";
        ("were requeued".to_owned(), cause.to_owned())
    };
    let (all, busy) = (metrics.load.requests, metrics.load.busy_seconds);
    Some(RuleMatch {
        summary: format!("{} of {} {what}", failed + requeued, count(all, "request")),
        evidence: vec![
            Evidence::new(layer, "failed requests", failed as f64, count(failed, "request"))
                .expect("none")
                .supports_if(failed > 0),
            Evidence::new(layer, "requeued requests", requeued as f64, count(requeued, "request"))
                .expect("none"),
        ],
        cause,
        counter_evidence: "programs that expect these errors, such as probes",
        fixes: texts([
            "check the kernel log and the server's log at that time",
            "check the path to the device: cables, multipath, the state of the array",
        ]),
        gain: Gain {
            seconds: busy * (failed as f64 / all.max(1) as f64),
            formula: format!("busy {layer} {busy:.2} s x share of failed requests; requeues cost little"),
        },
        events: context.all.examples.of(layer).failed.clone(),
        is_always_serious: failed > 0,
        ..RuleMatch::at(layer, Some(layer))
    })
}
