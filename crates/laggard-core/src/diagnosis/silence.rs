//! Silence of a device that chance explains.

use std::ops::Range;

use super::context::Context;
use super::traffic::{self, KNOWN_SHARE};
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};
use crate::suspects::blame::Incident;
use crate::tables::outages::least_rare_run;

/// Longer idleness is reported even where load is uneven.
const LONGEST_UNUSED: Span = Span::from_seconds(900);
/// If this many requests are expected in a time, none at all is not chance; and the mean of this many is not that of a single one.
const FEWEST_EXPECTED: f64 = 30.0;
/// A disk with more than this share of its usual requests is not idle.
const IDLE_SHARE: f64 = 0.1;
/// Shorter absence is a lost sample.
const SHORTEST_ABSENCE: Span = Span::from_seconds(60);

/// A disk with requests in less than this share of the time in which its peers have some rests anyway, as a spare does that
/// is read through from time to time.
const REGULAR_SHARE: f64 = 0.8;

/// True if a disk was used like its peers before an incident; or after it, where little was recorded before. Where neither is
/// known, a disk whose peers all do the same should do the same.
fn is_regularly_used(disk: usize, incident: &Incident, context: Context<'_>) -> bool {
    let all = context.summary.buckets;
    let during = context.summary.range(incident.begin, incident.end);
    let activity = MetricId::Activity;
    let other = [0..during.start, during.end..all].into_iter();
    let known = other.filter(|other| other.len() * KNOWN_SHARE >= during.len());
    let mut in_use = known.filter_map(|other| traffic::compared(disk, activity, &other, context));
    // A disk without any request afterwards has not recovered.
    match in_use.find(|(own, _)| *own > 0.0) {
        Some((own, peers)) => own >= REGULAR_SHARE * peers,
        None => !traffic::is_uneven(disk, incident, context),
    }
}

/// The longest time within an incident in which a disk had no requests, or no samples. Few requests may leave none.
pub(super) fn silent_time(
    disk: usize,
    incident: &Incident,
    context: Context<'_>,
) -> Option<(Timestamp, Timestamp)> {
    let recorded = &context.inventory.components[disk].recorded;
    let is_silent = |bucket: &usize| context.summary.presence(recorded, *bucket..*bucket + 1).1 == 0;
    let mut runs: Vec<Range<usize>> = Vec::new();
    for bucket in context.summary.range(incident.begin, incident.end).filter(is_silent) {
        match runs.last_mut() {
            Some(run) if run.end == bucket => run.end += 1,
            _ => runs.push(bucket..bucket + 1),
        }
    }
    let longest = runs.into_iter().max_by_key(ExactSizeIterator::len)?;
    let at = |bucket: usize| context.summary.start + context.summary.bucket * bucket as i64;
    Some((at(longest.start).max(incident.begin), at(longest.end).min(incident.end)))
}

/// True if a disk had so few requests in an incident that their mean says little.
pub(super) fn has_few_requests(disk: usize, incident: &Incident, context: Context<'_>) -> bool {
    let during = context.summary.range(incident.begin, incident.end);
    let seconds = (context.summary.bucket * during.len() as i64).seconds();
    let rate = context.peers.mean(disk, MetricId::Tps.metric(), during);
    rate.is_some_and(|rate| rate * seconds < FEWEST_EXPECTED)
}

/// True if a disk without requests rests anyway, has few, still has some, or belongs to a group that is used unevenly.
pub(super) fn is_idle_by_chance(disk: usize, incident: &Incident, context: Context<'_>) -> bool {
    let lasted = incident.end - incident.begin;
    let tps = MetricId::Tps.metric();
    let usual = context.peers.mean(disk, tps, 0..context.summary.buckets);
    let during = context.peers.mean(disk, tps, context.summary.range(incident.begin, incident.end));
    let is_used = is_regularly_used(disk, incident, context);
    let is_expected = usual.is_none_or(|usual| usual * lasted.seconds() >= FEWEST_EXPECTED);
    let is_idle = usual.zip(during).is_none_or(|(usual, during)| during <= IDLE_SHARE * usual);
    !is_used
        || !is_expected
        || !is_idle
        || lasted < LONGEST_UNUSED && traffic::is_uneven(disk, incident, context)
}

/// The time from which on a disk was missing to the end of the recording, if it had no request for a while before: it was
/// drained first. A disk that fails at work is removed by its host within minutes, so that nothing drains it.
pub(super) fn removed_since(disk: usize, context: Context<'_>) -> Option<Timestamp> {
    let (summary, recorded) = (context.summary, &context.inventory.components[disk].recorded);
    let is_there = |bucket: &usize| summary.presence(recorded, *bucket..*bucket + 1).0 > 0;
    let gone = (0..summary.buckets).rev().find(is_there)? + 1;
    let since = summary.start + summary.bucket * gone as i64;
    let drained = summary.range(since - LONGEST_UNUSED, since);
    let (there, active) = summary.presence(recorded, drained.clone());
    let is_drained = since - LONGEST_UNUSED >= summary.start && there == drained.len() && active == 0;
    (gone < summary.buckets && is_drained).then_some(since)
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
    let percent = |range: Range<usize>| {
        let buckets = range.len() as f64;
        (context.peers.mean(disk, absence, range).unwrap_or(0.0) / 100.0 * buckets, buckets)
    };
    let ((lost, buckets), (lost_during, buckets_during)) = (percent(0..all), percent(during));
    let lost_otherwise = (lost - lost_during).max(0.0) / (buckets - buckets_during).max(1.0);
    let steps = lasted.seconds() / step.seconds().max(1e-6);
    lasted < SHORTEST_ABSENCE || steps < least_rare_run(lost_otherwise, buckets.max(steps))
}
