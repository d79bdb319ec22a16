//! T16: requests that do not begin or end at a page, and take longer for it.

use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::Kind;
use crate::numbers::{nanoseconds, percent, plain};

pub(super) const RULE: Rule = Rule { title: "misaligned requests", explains: &[], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let metrics = context.all.layers.iter().rev().find(|layer| {
        layer.misaligned.share > 0.2 && layer.misaligned.penalty_ns.is_some_and(|penalty| penalty > 0.0)
    })?;
    let (layer, share) = (metrics.layer, metrics.misaligned.share);
    let (penalty_ns, aligned_ns) = (metrics.misaligned.penalty_ns?, metrics.misaligned.without_ns?.max(1.0));
    if penalty_ns / aligned_ns < 0.1 {
        return None;
    }
    let number = share * metrics.data_requests() as f64;
    let depth = metrics.load.concurrency.busy_avg.max(1.0);
    let penalty = nanoseconds(penalty_ns);
    Some(RuleMatch {
        summary: format!(
            "{} of requests are not aligned to 4 KiB, and take {penalty} longer each",
            percent(share)
        ),
        evidence: vec![
            Evidence::new(layer, "misaligned requests", share, percent(share)).expect("at most 20 %"),
            Evidence::new(
                layer,
                "additional latency",
                penalty_ns,
                format!("{penalty} more than {}", nanoseconds(aligned_ns)),
            )
            .expect("none"),
        ],
        cause:
            "requests begin or end within a page, sector or stripe: the rest is read first, or two servers \
            are involved"
                .into(),
        counter_evidence: "aligned requests of another kind, which are faster for another reason",
        fixes: texts(["align offsets and sizes to at least 4 KiB, better to the stripe"]),
        gain: Gain {
            seconds: penalty_ns / 1e9 * number / depth,
            formula: format!(
                "{} misaligned requests x {penalty} more than aligned ones of their size / concurrency {}",
                plain(number),
                plain(depth)
            ),
        },
        events: context.events(layer, &[Kind::Admit, Kind::Callback]),
        ..RuleMatch::at(layer, context.above(layer))
    })
}
