//! T20: one server or device receives far more than the others.

use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch, texts};
use crate::model::{Kind, Layer};
use crate::numbers::{bytes, percent, plain};

pub(super) const RULE: Rule = Rule { title: "hot spot", explains: &[], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let layers = [Layer::Pfss, Layer::Net, Layer::Dev, Layer::Blk];
    let metrics = layers
        .iter()
        .filter_map(|layer| context.layer(*layer))
        .find(|layer| layer.components.components.len() >= 3 && layer.components.bytes_max_over_mean > 2.0)?;
    let layer = metrics.layer;
    let components = &metrics.components.components;
    let factor = metrics.components.bytes_max_over_mean;
    let busiest = components.first()?;
    if metrics.data_requests() < 64 {
        return None;
    }
    let (own, all) = (busiest.bytes as f64, metrics.load.bytes);
    let share = own / all.max(1) as f64;
    let slow_factor = busiest.slow_factor.unwrap_or(1.0);
    Some(RuleMatch {
        summary: format!(
            "{} gets {} of the bytes, {} times the mean",
            busiest.name,
            percent(share),
            plain(factor)
        ),
        evidence: vec![
            Evidence::new(layer, "bytes relative to the mean", factor, plain(factor)).expect("at most 2"),
            Evidence::new(
                layer,
                "bytes",
                own,
                format!("{} of {} on 1 of {}", bytes(own), bytes(all as f64), components.len()),
            ),
            Evidence::new(layer, "its latency relative to the others", slow_factor, plain(slow_factor))
                .supports_if(slow_factor > 1.2),
        ],
        cause: "the layout of the files puts most bytes on one server or device".into(),
        counter_evidence: "a file that is meant to be on one server",
        fixes: texts([
            "stripe the files over more servers (`lfs setstripe -c -1`, a distributed volume), and \
            copy them",
        ]),
        gain: Gain {
            seconds: context.all.seconds * context.share_from(layer) * (1.0 - 1.0 / factor),
            formula: format!(
                "{:.2} s x share of time in {layer} and below x (1 - 1 / {})",
                context.all.seconds,
                plain(factor)
            ),
        },
        events: context.events(layer, &[Kind::Admit]),
        ..RuleMatch::at(layer, context.above(layer))
    })
}
