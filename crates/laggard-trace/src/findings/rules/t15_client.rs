//! T15: requests spend much of their time in the file system's client.

use super::time_in_layer::TimeInLayer;
use crate::findings::context::Context;
use crate::findings::rule::{Rule, RuleMatch};
use crate::model::Layer;

pub(super) const RULE: Rule = Rule { title: "the client itself", explains: &[], evaluate };

fn evaluate(context: &Context) -> Option<RuleMatch> {
    // The client's work shows as time of its requests in which no server has them.
    let client = context.first_of(&[Layer::Pfsc, Layer::Fuse])?;
    // Without a layer below, all time would count as the client's.
    context.all.boundaries.iter().find(|one| one.upper <= client.layer && one.lower > client.layer)?;
    let messages = context.layer(Layer::Net).map_or(0, |net| net.load.requests);
    let is_net_seen = 2 * messages >= client.data_requests();
    let unseen = "hardly any message to a server was captured: the wait for the network is included";
    let time = TimeInLayer {
        layer: client.layer,
        max_share: 0.4,
        cause: if is_net_seen {
            "the file system's client: CPU time, locks, context switches"
        } else {
            "the file system's client (CPU time, locks, context switches) or the network"
        },
        fixes: [
            "more threads: `gluster volume set VOLUME client.event-threads 4`, performance.client-io-threads on",
            "larger requests, so that each context switch carries more",
        ],
        confidence_limits: if is_net_seen { vec![] } else { vec![(0.5, unseen)] },
    };
    time.evaluate(context)
}
