//! Groups of devices that consist of clusters for the whole recording.

use std::collections::BTreeMap;
use std::ops::Range;

use super::gap::divided;
use super::{Mixture, MixtureCluster};
use crate::model::cluster::{FEWEST_PEERS, Inventory, PeerGroup};
use crate::model::component::Kind;
use crate::model::metric::MetricId;
use crate::tables::summary::Summary;

/// Loads that differ by this factor are different roles: a system disk and a data disk.
pub(super) const LOAD_RATIO: f64 = 4.0;
/// Latencies that differ by this factor are different hardware.
const SPEED_RATIO: f64 = 1.15;
/// A smaller share of a group that differs is faulty, not another kind of hardware.
const SMALLEST_SHARE: f64 = 0.25;
/// The division has to hold in each of these parts of the recording.
const PARTS: usize = 4;
/// Groups are divided at most this often.
const MOST_DIVISIONS: usize = 3;

/// Splits groups into clusters, and reports those that differ in speed.
pub(super) fn split(inventory: &mut Inventory, summary: &Summary) -> Vec<Mixture> {
    let mut mixtures = Vec::new();
    let groups = std::mem::take(&mut inventory.groups);
    for group in groups {
        let is_device = group.members.iter().all(|&member| inventory.components[member].class.is_some());
        let is_divisible = (is_device || group.kind == Kind::NIC) && group.members.len() >= 2 * FEWEST_PEERS;
        if !is_divisible {
            inventory.groups.push(group);
            continue;
        }
        let roles = divisions(inventory, summary, group, MOST_DIVISIONS, &by_load)
            .into_iter()
            .flat_map(|part| divisions(inventory, summary, part, MOST_DIVISIONS, &by_load_of_name))
            .collect::<Vec<PeerGroup>>();
        for part in roles {
            let name = part.name.clone();
            let mut clusters = vec![part];
            for divide in [&by_speed_of_name as &Divide, &by_speed_of_hosts, &by_speed] {
                let divided = |part| divisions(inventory, summary, part, MOST_DIVISIONS, divide);
                clusters = clusters.into_iter().flat_map(divided).collect();
            }
            if clusters.len() > 1 {
                mixtures.push(Mixture {
                    group: name,
                    kind: clusters[0].kind.clone(),
                    clusters: clusters.iter().map(|cluster| described(inventory, cluster)).collect(),
                });
            }
            inventory.groups.extend(clusters);
        }
    }
    inventory.groups.sort_by(|a, b| (&a.kind, &a.name).cmp(&(&b.kind, &b.name)));
    mixtures
}

fn described(inventory: &Inventory, cluster: &PeerGroup) -> MixtureCluster {
    let members = cluster.members.iter().map(|&member| inventory.components[member].name.clone());
    MixtureCluster { name: cluster.name.clone(), members: members.collect() }
}

type Divide = dyn Fn(&Inventory, &Summary, &PeerGroup) -> Option<(PeerGroup, PeerGroup)>;

fn divisions(
    inventory: &Inventory,
    summary: &Summary,
    group: PeerGroup,
    most: usize,
    divide: &Divide,
) -> Vec<PeerGroup> {
    match divide(inventory, summary, &group).filter(|_| most > 0) {
        None => vec![group],
        Some((one, other)) => {
            let mut parts = divisions(inventory, summary, one, most - 1, divide);
            parts.extend(divisions(inventory, summary, other, most - 1, divide));
            parts
        }
    }
}

/// Devices and interfaces with little load, and others. Only without a cluster file: with one, groups have their load by
/// intention.
fn by_load(inventory: &Inventory, summary: &Summary, group: &PeerGroup) -> Option<(PeerGroup, PeerGroup)> {
    if inventory.is_stated {
        return None;
    }
    let levels = |range: Range<usize>| amounts(inventory, summary, group, range);
    let (lower, higher) = divided(&levels(0..summary.buckets), LOAD_RATIO.ln(), FEWEST_PEERS)?;
    let is_role = |side: &[usize]| is_large(side.len(), group) || is_one_name(inventory, group, side);
    let is_lasting = parts(summary).all(|range| is_separate(&levels(range), &lower, &higher));
    (is_role(&lower) && is_role(&higher) && is_lasting)
        .then(|| (part(group, &lower, "load=low"), part(group, &higher, "load=high")))
}

/// The logarithm of what each member moves.
fn amounts(inventory: &Inventory, summary: &Summary, group: &PeerGroup, range: Range<usize>) -> Vec<f64> {
    let metrics: &[MetricId] =
        if group.kind == Kind::NIC { &[MetricId::Rxbyt, MetricId::Txbyt] } else { &[MetricId::Throughput] };
    sums(inventory, summary, group, metrics, range)
}

fn sums(
    inventory: &Inventory,
    summary: &Summary,
    group: &PeerGroup,
    metrics: &[MetricId],
    range: Range<usize>,
) -> Vec<f64> {
    let level = |&member: &usize| {
        let recorded = &inventory.components[member].recorded;
        let of_metric = |&metric: &MetricId| summary.mean(metric, recorded, range.clone());
        let known = metrics.iter().filter_map(of_metric).reduce(|sum, more| sum + more);
        known.map_or(f64::NAN, |level| level.max(LEAST_AMOUNT).ln())
    };
    group.members.iter().map(level).collect()
}

/// A smaller amount is none: bytes or requests per second.
const LEAST_AMOUNT: f64 = 0.01;

/// Devices of one name that have another load than the others, on several hosts: `sda` everywhere is the system disk.
fn by_load_of_name(
    inventory: &Inventory,
    summary: &Summary,
    group: &PeerGroup,
) -> Option<(PeerGroup, PeerGroup)> {
    if inventory.is_stated || group.kind == Kind::NIC {
        return None;
    }
    let load = |range: Range<usize>| amounts(inventory, summary, group, range);
    let requests = |range: Range<usize>| sums(inventory, summary, group, &[MetricId::Tps], range);
    by_name(inventory, summary, group, &load, LOAD_RATIO_OF_NAME)
        .or_else(|| by_name(inventory, summary, group, &requests, LOAD_RATIO_OF_NAME))
}

/// Devices of one name that are slower or faster than the others, on several hosts.
fn by_speed_of_name(
    inventory: &Inventory,
    summary: &Summary,
    group: &PeerGroup,
) -> Option<(PeerGroup, PeerGroup)> {
    let speeds = speeds(inventory, summary, group);
    by_name(inventory, summary, group, &speeds, SPEED_RATIO)
}

/// The devices of the first name whose levels differ from nearly all others by a ratio, for the whole recording.
fn by_name(
    inventory: &Inventory,
    summary: &Summary,
    group: &PeerGroup,
    levels: &dyn Fn(Range<usize>) -> Vec<f64>,
    ratio: f64,
) -> Option<(PeerGroup, PeerGroup)> {
    let mut names: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, &member) in group.members.iter().enumerate() {
        let device = inventory.components[member].attributes.get("device");
        names.entry(device.map_or("", String::as_str)).or_default().push(at);
    }
    let whole = levels(0..summary.buckets);
    let all = group.members.len();
    let is_apart = |inside: &Vec<usize>| {
        let outside: Vec<usize> = (0..all).filter(|at| !inside.contains(at)).collect();
        let is_enough = inside.len() >= FEWEST_PEERS && outside.len() >= FEWEST_PEERS;
        let (lower, higher) =
            if is_enough { ordered(&whole, inside, &outside, ratio)? } else { return None };
        parts(summary).all(|range| is_separate(&levels(range), lower, higher)).then_some(())
    };
    let (name, inside) =
        names.into_iter().find(|(name, inside)| !name.is_empty() && is_apart(inside).is_some())?;
    let outside: Vec<usize> = (0..all).filter(|at| !inside.contains(at)).collect();
    Some((part(group, &inside, &format!("device={name}")), part(group, &outside, "device=other")))
}

/// Two sides, the lower one first, if nearly all values of one are beyond nearly all of the other, by a ratio in the middle.
fn ordered<'a>(
    levels: &[f64],
    one: &'a [usize],
    other: &'a [usize],
    ratio: f64,
) -> Option<(&'a [usize], &'a [usize])> {
    let sorted = |side: &[usize]| {
        let mut values: Vec<f64> =
            side.iter().map(|&at| levels[at]).filter(|level| level.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (first, second) = (sorted(one), sorted(other));
    let at = |values: &[f64], share: f64| values[(share * (values.len() - 1) as f64).round() as usize];
    if first.len() < FEWEST_PEERS || second.len() < FEWEST_PEERS {
        return None;
    }
    let is_below = |low: &[f64], high: &[f64]| {
        at(low, NEARLY_ALL) < at(high, 1.0 - NEARLY_ALL) && at(high, 0.5) - at(low, 0.5) >= ratio.ln()
    };
    if is_below(&first, &second) {
        Some((one, other))
    } else {
        is_below(&second, &first).then_some((other, one))
    }
}

/// One in ten may be faulty, or belong to the other side by chance.
const NEARLY_ALL: f64 = 0.9;
/// Devices of one name have another role if their load differs by this factor.
const LOAD_RATIO_OF_NAME: f64 = 2.0;

/// Faster and slower devices. Those of one host, or of one name on all hosts, belong together: a single one that is slower may
/// be faulty.
fn by_speed(inventory: &Inventory, summary: &Summary, group: &PeerGroup) -> Option<(PeerGroup, PeerGroup)> {
    let levels = speeds(inventory, summary, group);
    let (faster, slower) = divided(&levels(0..summary.buckets), SPEED_RATIO.ln(), smallest(group))?;
    let is_lasting = parts(summary).all(|range| is_separate(&levels(range), &faster, &slower));
    if !is_lasting {
        return None;
    }
    let component = |at: usize| &inventory.components[group.members[at]];
    let (faster, slower) =
        kept_together(&slower, group, &|at| component(at).host.as_str()).or_else(|| {
            let name = |at: usize| component(at).attributes.get("device").map_or("", String::as_str);
            kept_together(&slower, group, &name)
        })?;
    (is_large(faster.len(), group) && is_large(slower.len(), group))
        .then(|| (part(group, &faster, "speed=fast"), part(group, &slower, "speed=slow")))
}

/// This share of a group may be faster or slower than the others of its host or name, and at least one.
const EXCEPTIONS: f64 = 0.1;

/// The faster and the slower members, if nearly all members with one key are on the same side: then all of them are.
fn kept_together<'a>(
    slower: &[usize],
    group: &PeerGroup,
    key: &dyn Fn(usize) -> &'a str,
) -> Option<(Vec<usize>, Vec<usize>)> {
    let mut keys: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    (0..group.members.len()).for_each(|at| keys.entry(key(at)).or_default().push(at));
    let (mut fast, mut slow, mut exceptions) = (Vec::new(), Vec::new(), 0);
    for members in keys.into_values() {
        let slow_ones = members.iter().filter(|at| slower.contains(at)).count();
        let is_slow = 2 * slow_ones > members.len();
        exceptions += if is_slow { members.len() - slow_ones } else { slow_ones };
        if is_slow { slow.extend(members) } else { fast.extend(members) }
    }
    let most = (EXCEPTIONS * group.members.len() as f64).max(1.0);
    (exceptions as f64 <= most).then_some((fast, slow))
}

/// The mean logarithm of each member's latency in a part of the recording.
fn speeds(
    inventory: &Inventory,
    summary: &Summary,
    group: &PeerGroup,
) -> impl Fn(Range<usize>) -> Vec<f64> + use<> {
    let rows: Vec<Option<Vec<f64>>> = group
        .members
        .iter()
        .map(|&member| summary.row(MetricId::Await, &inventory.components[member].recorded))
        .collect();
    move |range: Range<usize>| {
        let level = |row: &Option<Vec<f64>>| {
            let values = row.iter().flat_map(|row| &row[range.clone()]).filter(|value| **value > 0.0);
            let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value.ln(), count + 1.0));
            sum / count
        };
        rows.iter().map(level).collect()
    }
}

/// Hosts of another generation: their devices are slower. A host alone may be faulty.
fn by_speed_of_hosts(
    inventory: &Inventory,
    summary: &Summary,
    group: &PeerGroup,
) -> Option<(PeerGroup, PeerGroup)> {
    let mut hosts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, &member) in group.members.iter().enumerate() {
        hosts.entry(&inventory.components[member].host).or_default().push(at);
    }
    if hosts.values().any(|members| members.len() < 2) {
        return None;
    }
    let speeds = speeds(inventory, summary, group);
    let levels = |range: Range<usize>| -> Vec<f64> {
        let of_members = speeds(range);
        // All of them are slower: a single one may be faulty.
        let fastest =
            |members: &Vec<usize>| members.iter().map(|&at| of_members[at]).fold(f64::NAN, f64::min);
        hosts.values().map(fastest).collect()
    };
    let (faster, slower) = divided(&levels(0..summary.buckets), SPEED_RATIO.ln(), FEWEST_HOSTS)?;
    let is_lasting = parts(summary).all(|range| is_separate(&levels(range), &faster, &slower));
    let members = |side: &[usize]| -> Vec<usize> {
        let of_hosts = hosts.values().enumerate().filter(|(host, _)| side.contains(host));
        of_hosts.flat_map(|(_, members)| members.iter().copied()).collect()
    };
    let (faster, slower) = (members(&faster), members(&slower));
    let is_enough = faster.len().min(slower.len()) >= FEWEST_PEERS;
    (is_enough && is_lasting)
        .then(|| (part(group, &faster, "speed=fast"), part(group, &slower, "speed=slow")))
}

/// Fewer hosts are not a generation.
const FEWEST_HOSTS: usize = 2;

/// The fewest members of a cluster.
fn smallest(group: &PeerGroup) -> usize {
    FEWEST_PEERS.max((SMALLEST_SHARE * group.members.len() as f64).ceil() as usize)
}

fn is_large(members: usize, group: &PeerGroup) -> bool {
    members >= smallest(group)
}

/// True if these are exactly the devices of some names, on several hosts each: `sda` everywhere is a role.
fn is_one_name(inventory: &Inventory, group: &PeerGroup, side: &[usize]) -> bool {
    let name = |at: usize| inventory.components[group.members[at]].attributes.get("device");
    let mut inside: BTreeMap<_, (usize, usize)> = BTreeMap::new();
    for at in 0..group.members.len() {
        let counts = inside.entry(name(at)).or_default();
        counts.0 += usize::from(side.contains(&at));
        counts.1 += 1;
    }
    let named = inside.values().filter(|(inside, _)| *inside > 0);
    side.len() >= FEWEST_PEERS && named.clone().all(|(inside, all)| inside == all && *all >= FEWEST_PEERS)
}

/// True if nearly all lower values are still below nearly all higher ones.
fn is_separate(levels: &[f64], lower: &[usize], higher: &[usize]) -> bool {
    let median = |side: &[usize]| {
        let mut values: Vec<f64> =
            side.iter().map(|&at| levels[at]).filter(|level| level.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let (Some(low), Some(high)) = (median(lower), median(higher)) else { return true };
    let middle = (low + high) / 2.0;
    let wrong = lower.iter().filter(|&&at| levels[at] > middle).count()
        + higher.iter().filter(|&&at| levels[at] < middle).count();
    low < high && 5 * wrong <= lower.len() + higher.len()
}

pub(super) fn parts(summary: &Summary) -> impl Iterator<Item = Range<usize>> {
    let parts = PARTS.min(summary.buckets.max(1));
    let buckets = summary.buckets;
    (0..parts).map(move |part| part * buckets / parts..(part + 1) * buckets / parts)
}

fn part(group: &PeerGroup, side: &[usize], name: &str) -> PeerGroup {
    let mut members: Vec<usize> = side.iter().map(|&at| group.members[at]).collect();
    members.sort_unstable();
    PeerGroup { name: format!("{} {name}", group.name), kind: group.kind.clone(), members }
}
