//! Faults of a network that a faulty disk of the same server does not explain.

use super::context::Context;
use super::traffic;
use crate::suspects::blame::Incident;

/// A slow disk sends in bursts and makes windows small, but it loses no segments. Senders that probe for the capacity of a
/// network lose less than this percentage.
const LOST_PERCENT: f64 = 0.5;

/// True if an incident of interfaces, links or hosts shows what no disk causes: lost segments, or foreign traffic.
pub(super) fn is_independent(incident: &Incident, context: Context<'_>) -> bool {
    let range = context.summary.range(incident.begin, incident.end);
    let loses = |&e: &usize| {
        let episode = &context.episodes[e];
        let own = context.peers.mean(episode.component, episode.metric, range.clone()).unwrap_or(0.0);
        let peers = context.peers.median(episode.component, episode.metric, range.clone()).unwrap_or(0.0);
        episode.metric.id.is_loss() && own - peers >= LOST_PERCENT
    };
    incident.episodes.iter().any(loses) || traffic::is_foreign(incident, context)
}
