//! Faults of a network that a faulty disk of the same server does not explain.

use super::facts::Context;
use super::traffic;
use crate::model::metric::MetricId;
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
        matches!(episode.metric.id, MetricId::Loss | MetricId::LinkLoss) && own - peers >= LOST_PERCENT
    };
    let is_traffic = |&e: &usize| matches!(context.episodes[e].metric.id, MetricId::Rxbyt | MetricId::Txbyt);
    incident.episodes.iter().any(loses)
        || incident.episodes.iter().any(is_traffic) && traffic::is_foreign(incident, context)
}
