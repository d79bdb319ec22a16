//! T12: one server or device is slower than the others.

use crate::characteristics::{ComponentMetrics, LayerMetrics};
use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, Rule, RuleMatch};
use crate::model::Layer;
use crate::numbers::{count, nanoseconds, percent, plain};
use crate::reference::Metric;

pub(super) const RULE: Rule =
    Rule { title: "one slow component", explains: &[Metric::SlowComponent], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    // The lowest layer that shows it: a server waits for its device.
    let layers = [Layer::Dev, Layer::Blk, Layer::Ssys, Layer::Pfss, Layer::Net];
    let (metrics, component, factor) = layers
        .iter()
        .filter_map(|layer| context.layer(*layer))
        .filter_map(slowest)
        .find(|(_, _, factor)| *factor > 2.0)?;
    let (layer, name) = (metrics.layer, &component.name);
    let components = metrics.components.components.len();
    let share = component.bytes as f64 / metrics.load.bytes.max(1) as f64;
    let latency_ns = component.read_p50_ns.or(component.write_p50_ns).unwrap_or(0.0);
    Some(RuleMatch {
        summary: format!(
            "{name} takes {} times as long as {}",
            plain(factor),
            count(components as u64 - 1, "other")
        ),
        evidence: vec![
            Evidence::new(layer, "median latency relative to the others", factor, plain(factor))
                .expect("at most 2")
                .of_metric(Metric::SlowComponent),
            Evidence::new(layer, "median latency", latency_ns, nanoseconds(latency_ns))
                .expect("as the others"),
            Evidence::new(
                layer,
                "bytes",
                share,
                format!("{} of all, on 1 of {components} components", percent(share)),
            )
            .expect("as the others")
            .supports_if(share < 2.0 / components as f64),
        ],
        cause: format!("{name} is slow: its device, its controller, or other load on it"),
        counter_evidence: "more or larger requests on it than on the others: then it is a hot spot",
        fixes: vec![
            format!("drain {name} or remove it, then check `smartctl -a`, the RAID and the kernel log"),
            "`laggard diagnose` on a recording of all servers shows since when it is slow".into(),
        ],
        gain: Gain {
            seconds: context.all.seconds * (1.0 - 1.0 / factor) * context.share_from(layer),
            formula: format!(
                "{:.2} s x share of time in {layer} and below x (1 - 1 / {})",
                context.all.seconds,
                plain(factor)
            ),
        },
        events: context.slowest_events(layer),
        ..RuleMatch::at(layer, context.above(layer))
    })
}

fn slowest(layer: &LayerMetrics) -> Option<(&LayerMetrics, &ComponentMetrics, f64)> {
    let components = layer.components.components.iter();
    let factors = components.filter_map(|component| Some((layer, component, component.slow_factor?)));
    factors.max_by(|a, b| a.2.total_cmp(&b.2))
}
