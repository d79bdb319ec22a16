//! Hosts and connections that are slow or lossy because of the host at their other end.
//! In: incidents of the network. Out: those that no other one explains. Always: what remains of a host without its connections
//! with the other one is no worse than its peers, or it stays an incident of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::context::Context;
use crate::model::cluster::Component;
use crate::model::component::Kind;
use crate::model::metric::{Metric, MetricId};
use crate::suspects::blame::{Culprit, Incident};
use crate::suspects::episodes::Episode;
use crate::tables::host_paths::{self, HALF_KNOWN, NEGLIGIBLE_MS};

/// Hosts that differ by less than this percentage of lost segments, or logarithm of round trips, are alike.
const SLIGHT_LOSS: f64 = 0.25;
const SLIGHT_DELAY: f64 = 0.25;
/// An effect loses at least this share of its excess without its connections with the cause.
const EXPLAINED_SHARE: f64 = 0.5;

/// Joins incidents of the network to that of the host at the other end.
pub(super) fn explained(incidents: Vec<Incident>, context: Context<'_>) -> Vec<Incident> {
    let of_hosts: Vec<BTreeMap<usize, f64>> =
        incidents.iter().map(|incident| blamed_hosts(incident, context)).collect();
    if of_hosts.iter().all(BTreeMap::is_empty) {
        return incidents;
    }
    let ends = host_paths::ends(context.inventory);
    let links = Links { ends: &ends, context };
    let peak = |at: usize| of_hosts[at].values().copied().fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..incidents.len()).filter(|&at| !of_hosts[at].is_empty()).collect();
    order.sort_by(|&a, &b| peak(b).total_cmp(&peak(a)));
    let cause_of = |effect: usize| {
        let is_weaker = |&&cause: &&usize| cause != effect && peak(effect) < peak(cause);
        let mut stronger = order.iter().filter(is_weaker);
        stronger.find(|&&cause| {
            let is_its = |host: &usize| links.explain(&incidents[cause], *host, &incidents[effect]);
            of_hosts[cause].keys().any(is_its)
        })
    };
    let causes: Vec<Option<usize>> = (0..incidents.len()).map(|effect| cause_of(effect).copied()).collect();
    let mut whole = incidents.clone();
    for (effect, incident) in incidents.iter().enumerate() {
        if let Some(root) = root(&causes, effect) {
            // Differences of traffic are not caused by the other end.
            let is_of_network = |e: &&usize| is_network(context.episodes[**e].metric.id);
            whole[root].episodes.extend(incident.episodes.iter().filter(is_of_network));
        }
    }
    whole
        .into_iter()
        .zip(&causes)
        .filter(|(_, cause)| cause.is_none())
        .map(|(incident, _)| incident)
        .collect()
}

/// The cause that nothing else explains. Causes are stronger than their effects, so there is one.
fn root(causes: &[Option<usize>], effect: usize) -> Option<usize> {
    let mut at = causes[effect]?;
    while let Some(cause) = causes[at] {
        at = cause;
    }
    Some(at)
}

/// The hosts whose connections an incident is about, with the highest score of each.
fn blamed_hosts(incident: &Incident, context: Context<'_>) -> BTreeMap<usize, f64> {
    let mut hosts = BTreeMap::new();
    for episode in incident.episodes.iter().map(|&e| &context.episodes[e]).filter(|e| is_of_path(e)) {
        let peak: &mut f64 = hosts.entry(episode.component).or_default();
        *peak = peak.max(episode.peak);
    }
    hosts
}

fn is_network(metric: MetricId) -> bool {
    metric.is_loss() || metric.is_round_trip()
}

fn is_of_path(episode: &Episode) -> bool {
    matches!(episode.metric.id, MetricId::PathLoss | MetricId::PathRtt)
}

struct Links<'a> {
    /// The hosts at the ends of each link.
    ends: &'a BTreeMap<usize, [Option<usize>; 2]>,
    context: Context<'a>,
}

impl Links<'_> {
    /// True if everything in an incident is about connections with a host, at the time of that host's incident.
    fn explain(&self, cause: &Incident, host: usize, effect: &Incident) -> bool {
        let overlaps = cause.begin < effect.end && effect.begin < cause.end;
        let is_explained = |&e: &usize| {
            let episode = &self.context.episodes[e];
            let kind = &self.context.inventory.components[episode.component].kind;
            if *kind == Kind::LINK {
                self.touches(episode.component, host)
            } else if *kind == Kind::NIC {
                // Traffic differs for good reasons, unless connections suffer from it.
                self.host_of(episode.component).is_some_and(|near| {
                    let is_fine = |metric| self.is_fine_without(near, metric, host, effect);
                    is_fine(MetricId::PathLoss) && is_fine(MetricId::PathRtt)
                })
            } else {
                let metric = if episode.metric.id.is_loss() { MetricId::PathLoss } else { MetricId::PathRtt };
                is_network(episode.metric.id) && self.is_fine_without(episode.component, metric, host, effect)
            }
        };
        overlaps && is_container_of_network(effect, self.context) && effect.episodes.iter().all(is_explained)
    }

    fn touches(&self, link: usize, host: usize) -> bool {
        self.ends.get(&link).is_some_and(|ends| ends.contains(&Some(host)))
    }

    /// The component of the host that an interface belongs to.
    fn host_of(&self, interface: usize) -> Option<usize> {
        let components = &self.context.inventory.components;
        let is_it =
            |component: &Component| component.kind.is_host() && component.host == components[interface].host;
        components.iter().position(is_it)
    }

    /// True if a host's connections with all others are hardly worse than its peers'.
    fn is_fine_without(&self, near: usize, metric: MetricId, far: usize, incident: &Incident) -> bool {
        let range = self.context.summary.range(incident.begin, incident.end);
        let own: BTreeSet<usize> =
            self.ends.keys().copied().filter(|&link| self.touches(link, near)).collect();
        let is_shared = own.iter().any(|&link| self.touches(link, far));
        let rest = own.into_iter().filter(|&link| !self.touches(link, far));
        let rest = if metric.is_loss() { self.loss(rest, &range) } else { self.round_trip(rest, &range) };
        let metric = metric.metric();
        let (Some(own), Some(peers)) = (
            self.context.peers.mean(near, metric, range.clone()),
            self.context.peers.median(near, metric, range),
        ) else {
            return false;
        };
        let excess = |value: f64| excess(metric, value, peers);
        let most = ((1.0 - EXPLAINED_SHARE) * excess(own)).max(if metric.id.is_loss() {
            SLIGHT_LOSS
        } else {
            SLIGHT_DELAY
        });
        // Without any other connection, there is nothing else to blame the host for.
        is_shared && rest.is_none_or(|rest| excess(rest) < most)
    }

    /// As [`host_paths`] computes it, over a whole time.
    fn loss(&self, links: impl Iterator<Item = usize>, range: &Range<usize>) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for name in links.map(|link| &self.context.inventory.components[link].recorded) {
            let lost = self.context.summary.weighted_mean(MetricId::LinkLoss, name, range.clone());
            let weight = self.weight(name, range);
            sum += weight * lost.unwrap_or(0.0);
            weights += weight;
        }
        (weights > 0.0).then(|| sum / weights)
    }

    fn round_trip(&self, links: impl Iterator<Item = usize>, range: &Range<usize>) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for name in links.map(|link| &self.context.inventory.components[link].recorded) {
            if let Some(trip) = self.context.summary.mean(MetricId::Rtt, name, range.clone()) {
                let weight = self.weight(name, range);
                sum += weight * (trip + NEGLIGIBLE_MS).ln();
                weights += weight;
            }
        }
        (weights > 0.0).then(|| (sum / weights).exp() - NEGLIGIBLE_MS)
    }

    /// How much of a connection is known, by the segments that it sent.
    fn weight(&self, name: &str, range: &Range<usize>) -> f64 {
        let summary = self.context.summary;
        let seconds = (summary.bucket * range.len() as i64).seconds();
        let sent = summary.mean(MetricId::LinkSegs, name, range.clone()).unwrap_or(0.0) * seconds;
        sent / (sent + HALF_KNOWN)
    }
}

/// How much worse than its peers: shares of segments differ by an amount, round trips by a ratio.
fn excess(metric: &Metric, own: f64, peers: f64) -> f64 {
    if metric.id.is_loss() { own - peers } else { ((own + NEGLIGIBLE_MS) / (peers + NEGLIGIBLE_MS)).ln() }
}

/// True unless the incident also blames something other than connections, such as a disk or a controller.
fn is_container_of_network(incident: &Incident, context: Context<'_>) -> bool {
    let is_network = |kind: &Kind| [Kind::NIC, Kind::LINK].contains(kind) || kind.is_host();
    match incident.culprit {
        Culprit::Component(index) => is_network(&context.inventory.components[index].kind),
        Culprit::Container { .. } => true,
    }
}
