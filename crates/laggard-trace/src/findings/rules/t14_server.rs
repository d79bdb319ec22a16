//! T14: requests spend much of their time in the server itself.

use super::time_in_layer::TimeInLayer;
use crate::findings::context::Context;
use crate::findings::rule::{Rule, RuleMatch};
use crate::model::Layer;

pub(super) const RULE: Rule = Rule { title: "the server itself", explains: &[], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let time = TimeInLayer {
        layer: Layer::Pfss,
        max_share: 0.4,
        cause: "the server itself: CPU time, locks, or too few threads",
        fixes: [
            "more threads: `gluster volume set VOLUME performance.io-thread-count 32`, server.event-threads",
            "profile the server: `perf top`",
        ],
        confidence_limits: vec![],
    };
    time.evaluate(context)
}
