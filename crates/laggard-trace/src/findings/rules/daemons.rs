//! The network and the daemons of a file system: T13, T14, T15.

use super::super::case::{Case, Draft, Gain, Signs};
use super::super::words::{bytes, nanoseconds, percent};
use crate::characteristics::figures::LayerFigures;
use crate::model::Layer;

/// From this share of the path on the network is to blame.
const NETWORK: f64 = 0.5;
/// From this share on a daemon is.
const DAEMON: f64 = 0.4;

/// T13: requests spend most of their time between client and server.
pub fn network(case: &Case) -> Option<Draft> {
    blame(
        case,
        Layer::Net,
        NETWORK,
        "round trips or bandwidth between client and server",
        &[
            "fewer and larger messages: larger rsize/wsize, batching, more in flight",
            "the network itself: `ss -tin`, retransmissions, jumbo frames",
        ],
    )
}

/// T14: the server's own work.
pub fn server(case: &Case) -> Option<Draft> {
    blame(
        case,
        Layer::Pfss,
        DAEMON,
        "the server itself: processor time, locks, or too few threads",
        &[
            "more threads: `gluster volume set VOLUME performance.io-thread-count 32`, \
                server.event-threads",
            "`perf top` on the server: where does its time go?",
        ],
    )
}

/// T15: the client's own work.
pub fn client(case: &Case) -> Option<Draft> {
    // The client's work shows as time of requests to it in which no server has them.
    let layer = if case.layer(Layer::Pfsc).is_some() { Layer::Pfsc } else { Layer::Fuse };
    // Without a layer below, all of its time is its own: nothing can be said.
    case.all.boundary_below(layer)?;
    blame(
        case,
        layer,
        DAEMON,
        "the client of the file system: processor time, locks, switches between processes",
        &[
            "more threads: `gluster volume set VOLUME client.event-threads 4`, \
                performance.client-io-threads on",
            "larger requests, so that each switch carries more",
        ],
    )
}

fn blame(case: &Case, layer: Layer, from: f64, cause: &str, fixes: &[&str]) -> Option<Draft> {
    let figures: &LayerFigures = case.layer(layer)?;
    let share = figures.path_share;
    if share <= from || figures.load.requests < 32 {
        return None;
    }
    let own = figures.timing.self_share;
    let signs = Signs::default()
        .see(layer, "share of the path", share, percent(share), &format!("at most {}", percent(from)), true)
        .see(layer, "time of its own", own, percent(own), "", own > 0.3)
        .see(
            layer,
            "time of a request",
            figures.load.latency_ns.avg,
            format!(
                "{} for {}",
                nanoseconds(figures.load.latency_ns.avg),
                bytes(figures.load.size_bytes.avg)
            ),
            "",
            true,
        );
    Some(Draft {
        layer,
        upper: Some(layer),
        says: format!("{} of requests' time is spent here, in no layer below", percent(share)),
        signs,
        cause: cause.to_owned(),
        unless: "a layer below that was not captured: then the time is there".into(),
        fixes: fixes.iter().map(|fix| (*fix).to_owned()).collect(),
        gain: Gain {
            seconds: case.all.seconds * share / 2.0,
            formula: format!(
                "{:.2} s x {} on the path / 2: half of it, if that can be had",
                case.all.seconds,
                percent(share)
            ),
        },
        events: case.events(layer, &[]),
        is_always_serious: false,
    })
}
