//! Silence of a device that chance explains.

use super::facts::Context;
use super::traffic;
use crate::model::metric::MetricId;
use crate::model::time::Span;
use crate::suspects::blame::Incident;
use crate::tables::outages::least_rare_run;

/// Longer idleness is reported even where load is uneven.
const LONGEST_UNUSED: Span = Span::from_seconds(900);
/// If this many requests are expected in a time, none at all is not chance.
const FEWEST_EXPECTED: f64 = 30.0;
/// A disk with more than this share of its usual requests is not idle.
const IDLE_SHARE: f64 = 0.1;
/// Shorter absence is a lost sample.
const SHORTEST_ABSENCE: Span = Span::from_seconds(60);

/// True if a disk without requests has few anyway, still has some, or belongs to a group that is used unevenly.
pub(super) fn is_idle_by_chance(disk: usize, incident: &Incident, context: Context<'_>) -> bool {
    let lasted = incident.end - incident.begin;
    let tps = MetricId::Tps.metric();
    let usual = context.peers.mean(disk, tps, 0..context.summary.buckets);
    let during = context.peers.mean(disk, tps, context.summary.range(incident.begin, incident.end));
    let is_expected = usual.is_none_or(|usual| usual * lasted.seconds() >= FEWEST_EXPECTED);
    let is_idle = usual.zip(during).is_none_or(|(usual, during)| during <= IDLE_SHARE * usual);
    !is_expected || !is_idle || lasted < LONGEST_UNUSED && traffic::is_uneven(disk, incident, context)
}

/// True if a disk without samples is missing for no longer than lost samples explain.
pub(super) fn is_absent_by_chance(
    disk: usize,
    incident: &Incident,
    step: Span,
    context: Context<'_>,
) -> bool {
    let lasted = incident.end - incident.begin;
    let absence = MetricId::Absence.metric();
    let all = context.summary.buckets;
    let during = context.summary.range(incident.begin, incident.end);
    let percent = |range: std::ops::Range<usize>| {
        let buckets = range.len() as f64;
        (context.peers.mean(disk, absence, range).unwrap_or(0.0) / 100.0 * buckets, buckets)
    };
    let ((lost, buckets), (lost_during, buckets_during)) = (percent(0..all), percent(during));
    let lost_otherwise = (lost - lost_during).max(0.0) / (buckets - buckets_during).max(1.0);
    let steps = lasted.seconds() / step.seconds().max(1e-6);
    lasted < SHORTEST_ABSENCE || steps < least_rare_run(lost_otherwise, buckets.max(steps))
}
