//! Disks that are slower than their peers by the plain number that an operator computes, though none of their windows
//! makes them suspects. A report never contradicts that number silently.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::context::Context;
use super::load;
use super::observation::{Observation, SlowReason};
use crate::model::cluster::PeerGroup;
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};

/// The mean latency over the whole recording, as a multiple of the peers', that is worth mentioning.
pub(super) const LEAST_RATIO: f64 = 1.2;
/// Where peers are alike, a disk this much slower than all of them is worth mentioning too: a disk that is 1.2 times slower
/// is measured as a little less half of the time.
const LEAST_RATIO_OF_SIMILAR: f64 = 1.15;
/// Peers are alike if this many deviations of their means are less than that.
const DEVIATIONS: f64 = 4.0;
/// The mean latency over an hour that is worth mentioning. A long recording has many hours, and some of them are uneven.
const LEAST_RATIO_OF_AN_HOUR: f64 = 1.5;
const HOUR: Span = Span::from_seconds(3600);

/// Latencies deviate from their mean by about three times of it, as few requests take most of the time. The mean over n
/// requests is off by this divided by the root of n; chance exceeds four times that in none of a recording's hours.
const CHANCE: f64 = 4.0 * 3.0;

/// A disk that is slower within a time.
struct Slower<'a> {
    ratio: f64,
    disk: usize,
    name: &'a str,
    range: Range<usize>,
}

/// Disks that the report does not mention otherwise, and that are slower over the whole recording, or over an hour of it.
pub(crate) fn slower(context: Context<'_>, mentioned: &BTreeSet<String>) -> Vec<Observation> {
    let whole = 0..context.summary.buckets;
    let slow_always = slower_within(context, mentioned, std::slice::from_ref(&whole), &|group| {
        least_ratio(group, &whole, context)
    });
    let always: BTreeSet<usize> = slow_always.iter().map(|slower| slower.disk).collect();
    let mut slow_for_an_hour =
        slower_within(context, mentioned, &hours(context), &|_| LEAST_RATIO_OF_AN_HOUR);
    slow_for_an_hour.retain(|slower| !always.contains(&slower.disk));
    let observations = [(slow_always, false), (slow_for_an_hour, true)];
    observations.into_iter().filter_map(|(slower, is_hour)| observation(&slower, is_hour, context)).collect()
}

fn observation(slower: &[Slower<'_>], is_hour: bool, context: Context<'_>) -> Option<Observation> {
    let worst = slower.first()?;
    Some(Observation::Slower {
        components: slower.iter().map(|slower| slower.name.to_owned()).collect(),
        ratio: worst.ratio,
        hour: is_hour.then(|| times(&worst.range, context)),
        reason: reason(worst, context),
    })
}

/// The disks that are slower in any of the ranges, each in its worst; the slowest first.
fn slower_within<'a>(
    context: Context<'a>,
    mentioned: &BTreeSet<String>,
    ranges: &[Range<usize>],
    least: &dyn Fn(&PeerGroup) -> f64,
) -> Vec<Slower<'a>> {
    let groups = context.inventory.groups.iter().filter(|group| group.is_evaluated());
    let least: BTreeMap<usize, f64> = groups
        .flat_map(|group| group.members.iter().map(move |&member| (member, group)))
        .map(|(member, group)| (member, least(group)))
        .collect();
    let mut worst: BTreeMap<usize, Slower<'a>> = BTreeMap::new();
    for range in ranges {
        for (ratio, disk, name) in ratios(context, mentioned, range.clone()) {
            let is_slower = least.get(&disk).is_some_and(|least| ratio >= *least);
            if is_slower && worst.get(&disk).is_none_or(|known| ratio > known.ratio) {
                worst.insert(disk, Slower { ratio, disk, name, range: range.clone() });
            }
        }
    }
    let mut slower: Vec<Slower<'a>> = worst.into_values().collect();
    slower.sort_by(|a, b| b.ratio.total_cmp(&a.ratio).then(a.name.cmp(b.name)));
    slower
}

/// Hours of a longer recording begin this often: an hour that begins in between shares nearly all of its time with one of them.
const BEGINS_IN_AN_HOUR: usize = 8;

/// The hours of a longer recording.
pub(super) fn hours(context: Context<'_>) -> Vec<Range<usize>> {
    let (bucket, buckets) = (context.summary.bucket.micros().max(1), context.summary.buckets);
    let length = (HOUR.micros() as usize).div_ceil(bucket as usize);
    if length >= buckets {
        return Vec::new();
    }
    let begins = (0..buckets - length).step_by((length / BEGINS_IN_AN_HOUR).max(1));
    begins.chain(std::iter::once(buckets - length)).map(|at| at..at + length).collect()
}

pub(super) fn times(range: &Range<usize>, context: Context<'_>) -> (Timestamp, Timestamp) {
    let at = |bucket: usize| context.summary.start + context.summary.bucket * bucket as i64;
    (at(range.start), at(range.end).min(context.summary.end()))
}

/// The ratio to its peers that is worth mentioning of a member. Only the faster members show how alike they are: up to a
/// quarter of a group may be slow.
fn least_ratio(group: &PeerGroup, range: &Range<usize>, context: Context<'_>) -> f64 {
    let spread = spread(&group.members, range, context);
    (DEVIATIONS * spread).exp().clamp(LEAST_RATIO_OF_SIMILAR, LEAST_RATIO)
}

/// The deviation of the logarithms of the members' mean latencies.
fn spread(members: &[usize], range: &Range<usize>, context: Context<'_>) -> f64 {
    let mean = |&member: &usize| context.peers.mean(member, MetricId::MinuteAwait.metric(), range.clone());
    let mut logs: Vec<f64> =
        members.iter().filter_map(mean).map(f64::ln).filter(|log| log.is_finite()).collect();
    logs.sort_by(f64::total_cmp);
    let quantile = |share: f64| logs.get((share * logs.len().saturating_sub(1) as f64).round() as usize);
    quantile(0.5).zip(quantile(0.16)).map_or(f64::INFINITY, |(middle, low)| middle - low)
}

/// A disk with a fraction of its peers' latency for a while may do nothing: requests that fail immediately are fast.
const FAST_RATIO: f64 = 0.2;
/// Over a shorter time, the mean of a disk with few requests may be that of fast ones by chance.
const FAST_TIME: Span = Span::from_seconds(300);

/// A recording has at most this many parts.
const MOST_PARTS: usize = 48;

/// Disks that answer much faster than their peers in a part of the recording, and not always: a fast disk is always fast.
pub(crate) fn faster(context: Context<'_>, mentioned: &BTreeSet<String>) -> Option<Observation> {
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
/// recording in which it had enough requests.
fn ratios<'a>(
    context: Context<'a>,
    mentioned: &BTreeSet<String>,
    range: Range<usize>,
) -> Vec<(f64, usize, &'a str)> {
    let (minute, tps) = (MetricId::MinuteAwait.metric(), MetricId::Tps.metric());
    let seconds = (context.summary.bucket * range.len() as i64).seconds();
    let ratio = |component: usize| {
        let requests =
            context.peers.mean(component, tps, range.clone()).map_or(f64::MAX, |rate| rate * seconds);
        let own = context.peers.mean(component, minute, range.clone())?;
        let peers = context.peers.median(component, minute, range.clone())?;
        (peers > 0.0 && is_known(own / peers, requests)).then(|| own / peers)
    };
    let components = &context.inventory.components;
    let compared = context.inventory.groups.iter().filter(|group| group.is_evaluated());
    let disks = compared.flat_map(|group| &group.members).filter(|&&member| {
        let component = &components[member];
        component.class.is_some() && !mentioned.contains(component.name.as_str())
    });
    disks.filter_map(|&member| Some((ratio(member)?, member, components[member].name.as_str()))).collect()
}

/// True if chance does not explain the ratio of a mean over this number of requests to its peers'.
fn is_known(ratio: f64, requests: f64) -> bool {
    let difference = ratio.max(1.0 / ratio).min(2.0) - 1.0;
    requests * difference * difference >= CHANCE * CHANCE
}

/// A difference of less than this is mild.
const MILD: f64 = 1.5;
/// A time with this share of the whole difference is the reason for it.
const MOST: f64 = 0.5;
/// The share of a time that is short: a twentieth.
const SHORT_SHARE: usize = 20;

/// Peers that differ by this share of a difference, in logarithms, make it ordinary.
const ORDINARY_SHARE: f64 = 0.5;

/// The reason why a slower disk is not a suspect.
fn reason(slower: &Slower<'_>, context: Context<'_>) -> SlowReason {
    let Slower { ratio, disk, ref range, .. } = *slower;
    let waited = additional_waiting(disk, range.clone(), context);
    let all: f64 = waited.iter().filter(|waited| **waited > 0.0).sum();
    let (longest, within) = longest_wait(&waited);
    let (since, until) = times(&(range.start + longest.start..range.start + longest.end), context);
    let is_short = longest.len() <= (range.len() / SHORT_SHARE).max(1);
    if load::is_explained(disk, range, context) {
        SlowReason::Load
    } else if is_short && within >= MOST * all {
        SlowReason::Short { since, until }
    } else if ratio < MILD {
        SlowReason::Mild
    } else if spread(context.peers.members(disk), range, context) >= ORDINARY_SHARE * ratio.ln() {
        SlowReason::Ordinary
    } else {
        SlowReason::Uneven { since, until }
    }
}

/// The time that its requests waited longer than its peers', bucket by bucket.
fn additional_waiting(disk: usize, range: Range<usize>, context: Context<'_>) -> Vec<f64> {
    let waited = |bucket: usize| {
        let range = bucket..bucket + 1;
        let of = |metric: MetricId| context.peers.mean(disk, metric.metric(), range.clone());
        let peers = context.peers.median(disk, MetricId::MinuteAwait.metric(), range.clone());
        let longer = of(MetricId::MinuteAwait).zip(peers).map_or(0.0, |(own, peers)| own - peers);
        longer * of(MetricId::Tps).unwrap_or(1.0)
    };
    range.map(waited).collect()
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
