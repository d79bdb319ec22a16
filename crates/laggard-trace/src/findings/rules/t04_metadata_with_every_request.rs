//! T04: a metadata request with every read or write.

use crate::characteristics::OpClass;
use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::{Layer, MetaOp, Op};
use crate::numbers::{count, nanoseconds, percent};
use crate::reference::Metric;

pub(super) const RULE: Rule =
    Rule { title: "metadata with every request", explains: &[Metric::MetadataPerData], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let fuse = context.first_of(&[Layer::Fuse, Layer::Pfsc])?;
    let load = fuse.op(OpClass::Meta)?;
    let data = fuse.data_requests();
    let per_data = fuse.metadata.per_data;
    if per_data <= 0.5 || data < 32 {
        return None;
    }
    let (op, requests) = *fuse.metadata.by_op.first()?;
    let failed = fuse.errors.by_errno.iter().find(|(failed, _, _)| *failed == Op::Meta(op));
    let answer = failed.map_or_else(String::new, |(_, errno, number)| {
        format!(", {} answered with error {errno}", percent(*number as f64 / requests.max(1) as f64))
    });
    let writes = fuse.op(OpClass::Write).map_or(0, |writes| writes.requests);
    let is_capability = op == MetaOp::Getxattr && 2 * writes > data;
    let latency_ns = load.latency_ns.avg;
    Some(RuleMatch {
        summary: format!(
            "{requests} {} requests for {data} reads and writes ({per_data:.2} each)",
            op.name()
        ),
        evidence: vec![
            Evidence::new(
                fuse.layer,
                "metadata requests per data request",
                per_data,
                format!("{per_data:.2}"),
            )
            .expect("at most 0.1")
            .of_metric(Metric::MetadataPerData),
            Evidence::new(
                fuse.layer,
                op.name(),
                requests as f64,
                format!("{}{answer}", count(requests, "request")),
            )
            .expect("few")
            .supports_if(2 * requests > fuse.metadata.requests.max(1)),
            Evidence::new(fuse.layer, "latency of one", latency_ns, nanoseconds(latency_ns)),
        ],
        cause: if is_capability {
            "the kernel asks for the attribute security.capability before each write, and the negative answer \
                is not cached"
                .into()
        } else {
            format!("each request asks for {} again: the answer is not cached", op.name())
        },
        counter_evidence: "metadata requests of another job on the same mount",
        fixes: texts([
            "larger writes: each write causes one such request",
            "let the file system cache the answer, also the negative one (FUSE: FUSE_HANDLE_KILLPRIV_V2, a \
                cache of negative attributes)",
            "a writeback cache: `-o writeback_cache`",
        ]),
        gain: Gain {
            seconds: load.busy_seconds,
            formula: format!(
                "time with an open metadata request: {} x {}",
                count(load.requests, "request"),
                nanoseconds(latency_ns)
            ),
        },
        events: context.events(fuse.layer, &[]),
        ..RuleMatch::at(fuse.layer, context.above(fuse.layer))
    })
}
