//! Disks that are slower than their peers by the plain number that an operator computes, though none of their windows
//! makes them suspects. A report never contradicts that number silently.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::facts::Context;
use super::observation::{Observation, SlowReason};
use crate::model::metric::MetricId;
use crate::model::time::Span;

/// The mean latency over the whole recording, as a multiple of the peers', that is worth mentioning.
const LEAST_RATIO: f64 = 1.2;
/// Of so few requests per second a mean says little: a disk with logs has that many.
const FEWEST_REQUESTS: f64 = 1.0;

/// Slower disks that the report does not mention otherwise.
pub(crate) fn slower(context: Context<'_>, mentioned: &BTreeSet<&str>) -> Option<Observation> {
    let mut slower = ratios(context, mentioned, 0..context.summary.buckets);
    slower.retain(|(ratio, _, _)| *ratio >= LEAST_RATIO);
    slower.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(b.2)));
    let (ratio, worst, _) = *slower.first()?;
    Some(Observation::Slower {
        components: slower.into_iter().map(|(_, _, name)| name.to_owned()).collect(),
        ratio,
        reason: reason(worst, ratio, context),
    })
}

/// A disk with a fraction of its peers' latency for a while may do nothing: requests that fail immediately are fast.
const FAST_RATIO: f64 = 0.2;
/// Over a shorter time, the mean of a disk with few requests may be that of fast ones by chance.
const FAST_TIME: Span = Span::from_seconds(300);

/// A recording has at most this many parts.
const MOST_PARTS: usize = 48;

/// Disks that answer much faster than their peers in a part of the recording, and not always: a fast disk is always fast.
pub(crate) fn faster(context: Context<'_>, mentioned: &BTreeSet<&str>) -> Option<Observation> {
    let buckets = context.summary.buckets;
    let parts = (context.summary.bucket * buckets as i64).micros() / FAST_TIME.micros();
    let parts = (parts as usize).min(MOST_PARTS).min(buckets);
    let mut ordinary: BTreeSet<usize> = BTreeSet::new();
    let mut fastest: BTreeMap<usize, f64> = BTreeMap::new();
    for part in 0..parts {
        let range = part * buckets / parts..(part + 1) * buckets / parts;
        for (ratio, disk, _) in ratios(context, mentioned, range) {
            if ratio < FAST_RATIO {
                let least = fastest.entry(disk).or_insert(ratio);
                *least = least.min(ratio);
            } else if ratio > 1.0 / LEAST_RATIO {
                ordinary.insert(disk);
            }
        }
    }
    let ratio = fastest.iter().filter(|(disk, _)| ordinary.contains(disk)).map(|(_, ratio)| *ratio);
    let ratio = ratio.min_by(f64::total_cmp)?;
    let names = fastest.keys().filter(|disk| ordinary.contains(disk));
    let components = names.map(|&disk| context.inventory.components[disk].name.clone()).collect();
    Some(Observation::Faster { components, ratio: 1.0 / ratio })
}

/// The mean latency of each disk that the report does not mention otherwise, as a multiple of its peers', in a part of the
/// recording.
fn ratios<'a>(
    context: Context<'a>,
    mentioned: &BTreeSet<&str>,
    range: Range<usize>,
) -> Vec<(f64, usize, &'a str)> {
    let (minute, tps) = (MetricId::MinuteAwait.metric(), MetricId::Tps.metric());
    let ratio = |component: usize| {
        let requests = context.peers.mean(component, tps, range.clone()).unwrap_or(f64::MAX);
        let own = context.peers.mean(component, minute, range.clone())?;
        let peers = context.peers.median(component, minute, range.clone())?;
        (requests >= FEWEST_REQUESTS && peers > 0.0).then(|| own / peers)
    };
    let components = &context.inventory.components;
    let compared = context.inventory.groups.iter().filter(|group| group.is_evaluated());
    let disks = compared.flat_map(|group| &group.members).filter(|&&member| {
        let component = &components[member];
        component.class.is_some() && !mentioned.contains(component.name.as_str())
    });
    disks.filter_map(|&member| Some((ratio(member)?, member, components[member].name.as_str()))).collect()
}

/// A difference of less than this is mild.
const MILD: f64 = 1.5;
/// A time with this share of the whole difference is the reason for it.
const MOST: f64 = 0.5;
/// The share of a recording that is short: a twentieth.
const SHORT_SHARE: usize = 20;

/// The reason why a disk with that ratio is not a suspect.
fn reason(disk: usize, ratio: f64, context: Context<'_>) -> SlowReason {
    let waited = additional_waiting(disk, context);
    let all: f64 = waited.iter().filter(|waited| **waited > 0.0).sum();
    let (range, within) = longest_wait(&waited);
    let at = |bucket: usize| context.summary.start + context.summary.bucket * bucket as i64;
    let (since, until) = (at(range.start), at(range.end));
    let is_short = range.len() <= (context.summary.buckets / SHORT_SHARE).max(1);
    if is_short && within >= MOST * all {
        SlowReason::Short { since, until }
    } else if ratio < MILD {
        SlowReason::Mild
    } else {
        SlowReason::Uneven { since, until }
    }
}

/// The time that its requests waited longer than its peers', bucket by bucket.
fn additional_waiting(disk: usize, context: Context<'_>) -> Vec<f64> {
    let waited = |bucket: usize| {
        let range = bucket..bucket + 1;
        let of = |metric: MetricId| context.peers.mean(disk, metric.metric(), range.clone());
        let peers = context.peers.median(disk, MetricId::Await.metric(), range.clone());
        let longer = of(MetricId::Await).zip(peers).map_or(0.0, |(own, peers)| own - peers);
        longer * of(MetricId::Tps).unwrap_or(1.0)
    };
    (0..context.summary.buckets).map(waited).collect()
}

/// The consecutive buckets with the most waiting, and how much that is.
fn longest_wait(waited: &[f64]) -> (Range<usize>, f64) {
    let mut runs: Vec<(Range<usize>, f64)> = Vec::new();
    for (at, &waited) in waited.iter().enumerate().filter(|(_, waited)| **waited > 0.0) {
        match runs.last_mut() {
            Some((run, sum)) if run.end == at => (run.end, *sum) = (at + 1, *sum + waited),
            _ => runs.push((at..at + 1, waited)),
        }
    }
    runs.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0..1, 0.0))
}
