//! The shared form of T13, T14 and T15: most of the requests' time is spent in one layer.

use crate::characteristics::LayerMetrics;
use crate::findings::context::Context;
use crate::findings::evidence::Evidence;
use crate::findings::rule::{Gain, RuleMatch, texts};
use crate::model::Layer;
use crate::numbers::{bytes, nanoseconds, percent};

pub(super) struct TimeInLayer {
    pub(super) layer: Layer,
    /// Larger shares of the requests' time match.
    pub(super) max_share: f64,
    pub(super) cause: &'static str,
    pub(super) fixes: [&'static str; 2],
    pub(super) confidence_limits: Vec<(f64, &'static str)>,
}

impl TimeInLayer {
    pub(super) fn evaluate(self, context: &Context) -> Option<RuleMatch> {
        let metrics = context.layer(self.layer)?;
        let share = metrics.path_share;
        if share <= self.max_share || metrics.load.requests < 32 {
            return None;
        }
        Some(RuleMatch {
            summary: format!("{} of the requests' time is spent here, in no layer below", percent(share)),
            evidence: self.evidence(metrics),
            confidence_limits: self.confidence_limits,
            cause: self.cause.to_owned(),
            counter_evidence: "a layer below that was not captured: then the time is spent there",
            fixes: texts(self.fixes),
            gain: Gain {
                seconds: context.all.seconds * share / 2.0,
                formula: format!(
                    "{:.2} s x {} of the time / 2: assumes that half of it can be saved",
                    context.all.seconds,
                    percent(share)
                ),
            },
            events: context.events(self.layer, &[]),
            ..RuleMatch::at(self.layer, Some(self.layer))
        })
    }

    fn evidence(&self, metrics: &LayerMetrics) -> Vec<Evidence> {
        let (layer, share, own) = (self.layer, metrics.path_share, metrics.timing.self_share);
        let latency_ns = metrics.load.latency_ns.avg;
        let shown = format!("{} for {}", nanoseconds(latency_ns), bytes(metrics.load.size_bytes.avg));
        vec![
            Evidence::new(layer, "share of the requests' time", share, percent(share))
                .expect(format!("at most {}", percent(self.max_share))),
            Evidence::new(layer, "own time", own, percent(own)).supports_if(own > 0.3),
            Evidence::new(layer, "latency of a request", latency_ns, shown),
        ]
    }
}
