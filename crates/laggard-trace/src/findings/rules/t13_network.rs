//! T13: requests spend most of their time between client and server.

use super::time_in_layer::TimeInLayer;
use crate::findings::context::Context;
use crate::findings::rule::{Rule, RuleMatch};
use crate::model::Layer;

pub(super) const RULE: Rule = Rule { title: "the network", explains: &[], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    let net = context.layer(Layer::Net)?;
    let has_server = context.first_of(&[Layer::Pfss, Layer::Ssys]).is_some();
    let mut confidence_limits = vec![if has_server {
        (0.7, "the arrival of a message at the server is not seen: its wait for a thread there is included")
    } else {
        (0.5, "no server was captured: its time is included")
    }];
    if net.load.concurrency.max > 1 {
        confidence_limits.push((0.6, "several messages are in flight, and answers are matched by order"));
    }
    let time = TimeInLayer {
        layer: Layer::Net,
        max_share: 0.5,
        cause: "round trips or bandwidth between client and server",
        fixes: [
            "fewer and larger messages: larger rsize/wsize, batching, more in flight",
            "check the network itself: `ss -tin`, retransmissions, jumbo frames",
        ],
        confidence_limits,
    };
    time.evaluate(context)
}
