//! The network and the daemons of a file system: T13, T14, T15.

use super::super::case::{Case, Draft, Gain, Signs};
use super::super::words::{bytes, nanoseconds, percent};
use crate::characteristics::boundary::BoundaryFigures;
use crate::characteristics::figures::LayerFigures;
use crate::model::Layer;

/// From this share of the path on the network is to blame.
const NETWORK: f64 = 0.5;
/// From this share on a daemon is.
const DAEMON: f64 = 0.4;

/// What is to blame, and how sure that can be.
struct Blame {
    layer: Layer,
    /// From this share of the path on.
    from: f64,
    cause: &'static str,
    fixes: [&'static str; 2],
    /// How sure it can be at the most, and why.
    limits: Vec<(f64, &'static str)>,
}

/// T13: requests spend most of their time between client and server.
pub fn network(case: &Case) -> Option<Draft> {
    let net = case.layer(Layer::Net)?;
    let has_server = case.first_of(&[Layer::Pfss, Layer::Ssys]).is_some();
    let mut limits = vec![if has_server {
        (0.7, "when a message reaches the server is not seen: what it waits there for a thread is in this")
    } else {
        (0.5, "no server was captured: its time is in this")
    }];
    if net.load.concurrency.max > 1 {
        limits.push((0.6, "several messages are on their way at once, and answers are told apart by order"));
    }
    let blame = Blame {
        layer: Layer::Net,
        from: NETWORK,
        cause: "round trips or bandwidth between client and server",
        fixes: [
            "fewer and larger messages: larger rsize/wsize, batching, more in flight",
            "the network itself: `ss -tin`, retransmissions, jumbo frames",
        ],
        limits,
    };
    blame.draft(case)
}

/// T14: the server's own work.
pub fn server(case: &Case) -> Option<Draft> {
    let blame = Blame {
        layer: Layer::Pfss,
        from: DAEMON,
        cause: "the server itself: processor time, locks, or too few threads",
        fixes: [
            "more threads: `gluster volume set VOLUME performance.io-thread-count 32`, \
                server.event-threads",
            "`perf top` on the server: where does its time go?",
        ],
        limits: vec![],
    };
    blame.draft(case)
}

/// T15: the client's own work.
pub fn client(case: &Case) -> Option<Draft> {
    // The client's work shows as time of requests to it in which no server has them.
    let client = case.first_of(&[Layer::Pfsc, Layer::Fuse])?;
    // Without a layer below, all of its time is its own: nothing can be said.
    let spans = |one: &&BoundaryFigures| one.upper <= client.layer && one.lower > client.layer;
    case.all.boundaries.iter().find(spans)?;
    let messages = case.layer(Layer::Net).map_or(0, |net| net.load.requests);
    let is_net_seen = 2 * messages >= client.data_requests();
    let unseen = "hardly any message to a server was seen: what it waits for the network is in this";
    let blame = Blame {
        layer: client.layer,
        from: DAEMON,
        cause: if is_net_seen {
            "the client of the file system: processor time, locks, switches between processes"
        } else {
            "the client of the file system (processor time, locks, switches between processes) or the network"
        },
        fixes: [
            "more threads: `gluster volume set VOLUME client.event-threads 4`, \
                performance.client-io-threads on",
            "larger requests, so that each switch carries more",
        ],
        limits: if is_net_seen { vec![] } else { vec![(0.5, unseen)] },
    };
    blame.draft(case)
}

impl Blame {
    fn draft(&self, case: &Case) -> Option<Draft> {
        let figures: &LayerFigures = case.layer(self.layer)?;
        let share = figures.path_share;
        if share <= self.from || figures.load.requests < 32 {
            return None;
        }
        Some(Draft {
            layer: self.layer,
            upper: Some(self.layer),
            says: format!("{} of requests' time is spent here, in no layer below", percent(share)),
            signs: self.signs(figures),
            cause: self.cause.to_owned(),
            unless: "a layer below that was not captured: then the time is there".into(),
            fixes: self.fixes.iter().map(|fix| (*fix).to_owned()).collect(),
            gain: Gain {
                seconds: case.all.seconds * share / 2.0,
                formula: format!(
                    "{:.2} s x {} on the path / 2: half of it, if that can be had",
                    case.all.seconds,
                    percent(share)
                ),
            },
            events: case.events(self.layer, &[]),
            is_always_serious: false,
        })
    }

    fn signs(&self, figures: &LayerFigures) -> Signs {
        let (layer, share, own) = (self.layer, figures.path_share, figures.timing.self_share);
        let latency_ns = figures.load.latency_ns.avg;
        let expected = format!("at most {}", percent(self.from));
        let told = format!("{} for {}", nanoseconds(latency_ns), bytes(figures.load.size_bytes.avg));
        let signs = Signs::default()
            .see(layer, "share of the path", share, percent(share), &expected, true)
            .see(layer, "time of its own", own, percent(own), "", own > 0.3)
            .see(layer, "time of a request", latency_ns, told, "", true);
        self.limits.iter().fold(signs, |signs, (sure, why)| signs.at_most(*sure, why))
    }
}
