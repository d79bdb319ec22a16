//! Connections whose round trips are long because the remote host is far away.
//! In: a link with long round trips. Out: its usual round trip, if that is a property of the path. Always: round trips that
//! grew during the recording, or vary as queues do, are not explained.

use super::context::Context;
use crate::model::component::Kind;
use crate::suspects::blame::Incident;
use crate::suspects::episodes::Episode;

/// Round trips of fewer buckets of time show nothing about how they vary.
const FEWEST: usize = 12;
/// The middle half of a distance's round trips differs by less than this, as a share of their median. Queues vary with
/// load by several times themselves.
const STEADY: f64 = 0.5;
/// The beginning of a recording, in which a distance has its round trips already: a tenth.
const BEGINNING: usize = 10;

/// A link or a host, and its usual round trip.
pub(super) struct FarLink {
    pub(super) link: usize,
    pub(super) round_trip_ms: f64,
}

/// The links and hosts of an incident, if the round trips of all of them are long from the first sample on, and steady.
pub(super) fn far_links(incident: &Incident, context: Context<'_>) -> Option<Vec<FarLink>> {
    let episodes = || incident.episodes.iter().map(|&e| &context.episodes[e]);
    let is_long_trip = |episode: &Episode| {
        let kind = &context.inventory.components[episode.component].kind;
        (*kind == Kind::LINK || kind.is_host()) && episode.metric.id.is_round_trip()
    };
    let far = |episode: &Episode| if is_long_trip(episode) { far_link(episode, context) } else { None };
    episodes().map(far).collect()
}

fn far_link(episode: &Episode, context: Context<'_>) -> Option<FarLink> {
    let (link, rtt) = (episode.component, episode.metric);
    let row = context.summary.row(rtt.id, &context.inventory.components[link].recorded)?;
    let trips: Vec<f64> = row.into_iter().filter(|trip| !trip.is_nan()).collect();
    let peers = context.peers.median(link, rtt, 0..context.summary.buckets)?;
    let then = context.peers.mean(link, rtt, context.summary.range(episode.begin, episode.end))?;
    let is_usual = |usual: &f64| *usual > peers && then < *usual * (1.0 + STEADY);
    steady(&trips).filter(is_usual).map(|usual| FarLink { link, round_trip_ms: usual })
}

/// The median, if round trips were like it from the beginning, and vary little.
fn steady(trips: &[f64]) -> Option<f64> {
    if trips.len() < FEWEST {
        return None;
    }
    let [low, usual, high] = quartiles(trips);
    let [_, first, _] = quartiles(&trips[..trips.len().div_ceil(BEGINNING)]);
    let is_alike = first > usual * (1.0 - STEADY);
    (is_alike && high - low < STEADY * usual).then_some(usual)
}

fn quartiles(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| sorted[sorted.len() * quarter / 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_is_there_from_the_beginning_and_does_not_vary_with_load() {
        let noisy = |at: usize| 12.0 + (at * 7 % 5) as f64 / 2.0;
        let distance: Vec<f64> = (0..60).map(noisy).collect();
        assert_eq!(steady(&distance), Some(13.0));
        let grown: Vec<f64> = (0..60).map(|at| if at < 10 { 0.3 } else { noisy(at) }).collect();
        assert_eq!(steady(&grown), None);
        let queue: Vec<f64> = (0..60).map(|at| 1.0 + (at % 12) as f64).collect();
        assert_eq!(steady(&queue), None);
    }
}
