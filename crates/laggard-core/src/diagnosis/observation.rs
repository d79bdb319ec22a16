//! Observations: unusual, but no component is blamed for it. Their texts are in `report/observation_texts.rs`.

use crate::model::metric::MetricId;
use crate::model::time::Timestamp;
use crate::selection::Mixture;

#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// Components that are slow or idle in turns, together with `others`: ordinary for the system.
    TakingTurns {
        components: Vec<String>,
        others: Vec<String>,
        worst: String,
        since: Timestamp,
        until: Timestamp,
    },
    /// A server that uses its own disks while their peers rest.
    OwnJobs { server: String, affected: usize, held: usize, since: Timestamp, until: Timestamp },
    /// A component with another load is slower.
    UnevenLoad { component: String, difference: LoadDifference, since: Timestamp, until: Timestamp },
    /// Interfaces that carry other amounts than their peers, without longer round trips or lost segments.
    UnevenTraffic {
        interfaces: Vec<String>,
        /// Where the difference is largest, as a multiple of the peers' traffic.
        worst: String,
        ratio: Option<f64>,
        since: Timestamp,
        until: Timestamp,
    },
    /// Connections with a remote host whose round trips are long, and steady from the beginning.
    Far {
        remote: String,
        links: Vec<String>,
        /// True if the remote host has no other connections.
        is_all: bool,
        round_trip_ms: f64,
    },
    /// A disk without requests or samples for a while, which chance explains.
    Unused { component: String, since: Timestamp, until: Timestamp },
    /// Devices that were drained and then left their host, which continued without them.
    Removed { components: Vec<String>, since: Timestamp },
    /// A component that works while all its peers rest.
    NoPeerAtWork { component: String },
    /// A group whose members form clusters for the whole recording. They are compared within each cluster.
    MixedGroup(Mixture),
    /// Components that differed from their peers in training already; the farthest first, with its ratio. They are compared
    /// with their usual ratio.
    UsuallyDifferent {
        components: Vec<String>,
        metric: MetricId,
        ratio: f64,
        since: Timestamp,
        until: Timestamp,
    },
    /// Disks with a higher mean latency than their peers over the whole recording, or over an hour of it; the slowest first, with
    /// its ratio.
    Slower { components: Vec<String>, ratio: f64, hour: Option<(Timestamp, Timestamp)>, reason: SlowReason },
    /// Disks that answer much faster than their peers.
    Faster { components: Vec<String>, ratio: f64 },
    /// Components with many more errors than their peers over the whole recording, or over an hour of it; the worst first, with
    /// its mean and that of its peers.
    Errors {
        components: Vec<String>,
        metric: MetricId,
        own: f64,
        peers: f64,
        hour: Option<(Timestamp, Timestamp)>,
    },
    /// Components that differ from their peers at the end of the recording, by more than chance explains, and for too short a time
    /// to blame them. The worst first, which does so since then.
    Watch { components: Vec<String>, difference: Difference, since: Timestamp, until: Timestamp },
    /// The same, at another time.
    Brief { components: Vec<String>, difference: Difference, since: Timestamp, until: Timestamp },
    /// Hosts without samples for some minutes.
    Restarts { hosts: Vec<String>, longest: String, since: Timestamp, until: Timestamp },
    /// Hosts that were not recorded before this time.
    NewHosts { hosts: Vec<String>, since: Timestamp },
    /// Hosts with missing samples here and there.
    LostSamples { hosts: Vec<String>, worst: String, share: f64 },
}

/// How the load of a component differs from that of its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadDifference {
    More,
    /// Requests take no longer than those of the peers, but should take less.
    Less,
    /// Of reads and writes.
    OtherMix,
    LargerRequests,
}

/// The difference of a component from its peers in its strongest metric. Nothing where they have no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    pub metric: MetricId,
    pub own: Option<f64>,
    pub peers: Option<f64>,
}

/// The reason why a disk with a higher mean latency is not a suspect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlowReason {
    /// Its load differs from that of its peers.
    Load,
    /// Its peers differ from each other nearly as much.
    Ordinary,
    Mild,
    /// Most of it is from a single, short time.
    Short {
        since: Timestamp,
        until: Timestamp,
    },
    /// It comes and goes. The worst time of all.
    Uneven {
        since: Timestamp,
        until: Timestamp,
    },
}

impl Observation {
    /// As in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Observation::TakingTurns { .. } => "taking-turns",
            Observation::OwnJobs { .. } => "own-jobs",
            Observation::UnevenLoad { .. } => "uneven-load",
            Observation::UnevenTraffic { .. } => "uneven-traffic",
            Observation::Far { .. } => "far",
            Observation::Unused { .. } => "unused",
            Observation::Removed { .. } => "removed",
            Observation::NoPeerAtWork { .. } => "no-peer-at-work",
            Observation::MixedGroup(_) => "mixed-group",
            Observation::Slower { .. } => "slower",
            Observation::UsuallyDifferent { .. } => "usually-different",
            Observation::Faster { .. } => "faster",
            Observation::Errors { .. } => "errors",
            Observation::Watch { .. } => "watch",
            Observation::Brief { .. } => "brief",
            Observation::Restarts { .. } => "restarts",
            Observation::NewHosts { .. } => "new",
            Observation::LostSamples { .. } => "lost-samples",
        }
    }

    pub fn components(&self) -> Vec<String> {
        match self {
            Observation::TakingTurns { components, .. }
            | Observation::Slower { components, .. }
            | Observation::UsuallyDifferent { components, .. }
            | Observation::Faster { components, .. }
            | Observation::Errors { components, .. }
            | Observation::Removed { components, .. }
            | Observation::Watch { components, .. }
            | Observation::Brief { components, .. } => components.clone(),
            Observation::OwnJobs { server, .. } => vec![server.clone()],
            Observation::UnevenLoad { component, .. }
            | Observation::Unused { component, .. }
            | Observation::NoPeerAtWork { component } => {
                vec![component.clone()]
            }
            Observation::UnevenTraffic { interfaces, .. } => interfaces.clone(),
            Observation::Far { links, .. } => links.clone(),
            Observation::MixedGroup(mixture) => {
                mixture.clusters.iter().flat_map(|cluster| cluster.members.iter().cloned()).collect()
            }
            Observation::Restarts { hosts, .. }
            | Observation::NewHosts { hosts, .. }
            | Observation::LostSamples { hosts, .. } => hosts.clone(),
        }
    }
}
