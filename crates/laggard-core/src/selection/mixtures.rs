//! Groups of devices that consist of clusters for the whole recording.

use std::collections::BTreeMap;
use std::ops::Range;

use super::gap::divided;
use super::{Mixture, MixtureCluster};
use crate::model::cluster::{FEWEST_PEERS, Inventory, PeerGroup};
use crate::model::metric::MetricId;
use crate::tables::summary::Summary;

/// Loads that differ by this factor are different roles: a system disk and a data disk.
const LOAD_RATIO: f64 = 4.0;
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
        if !is_device || group.members.len() < 2 * FEWEST_PEERS {
            inventory.groups.push(group);
            continue;
        }
        let by_load = divisions(inventory, summary, group, MOST_DIVISIONS, &by_load);
        for part in by_load {
            let name = part.name.clone();
            let clusters = divisions(inventory, summary, part, MOST_DIVISIONS, &by_speed);
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

/// Devices with little load, and others. Only without a cluster file: with one, groups have their load by intention.
fn by_load(inventory: &Inventory, summary: &Summary, group: &PeerGroup) -> Option<(PeerGroup, PeerGroup)> {
    if inventory.is_stated {
        return None;
    }
    let levels = |range: Range<usize>| -> Vec<f64> {
        let level = |&member: &usize| {
            let recorded = &inventory.components[member].recorded;
            summary
                .mean(MetricId::Throughput, recorded, range.clone())
                .map_or(f64::NAN, |level| level.max(1.0).ln())
        };
        group.members.iter().map(level).collect()
    };
    let (lower, higher) = divided(&levels(0..summary.buckets), LOAD_RATIO.ln(), FEWEST_PEERS)?;
    let is_role = |side: &[usize]| is_large(side.len(), group) || is_one_name(inventory, group, side);
    let is_lasting = parts(summary).all(|range| is_separate(&levels(range), &lower, &higher));
    (is_role(&lower) && is_role(&higher) && is_lasting)
        .then(|| (part(group, &lower, "load=low"), part(group, &higher, "load=high")))
}

/// Faster and slower devices.
fn by_speed(inventory: &Inventory, summary: &Summary, group: &PeerGroup) -> Option<(PeerGroup, PeerGroup)> {
    let rows: Vec<Option<Vec<f64>>> = group
        .members
        .iter()
        .map(|&member| summary.row(MetricId::Await, &inventory.components[member].recorded))
        .collect();
    let levels = |range: Range<usize>| -> Vec<f64> {
        let level = |row: &Option<Vec<f64>>| {
            let values = row.iter().flat_map(|row| &row[range.clone()]).filter(|value| **value > 0.0);
            let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value.ln(), count + 1.0));
            sum / count
        };
        rows.iter().map(level).collect()
    };
    let (faster, slower) = divided(&levels(0..summary.buckets), SPEED_RATIO.ln(), smallest(group))?;
    let is_lasting = parts(summary).all(|range| is_separate(&levels(range), &faster, &slower));
    (is_large(faster.len(), group) && is_large(slower.len(), group) && is_lasting)
        .then(|| (part(group, &faster, "speed=fast"), part(group, &slower, "speed=slow")))
}

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

fn parts(summary: &Summary) -> impl Iterator<Item = Range<usize>> {
    let parts = PARTS.min(summary.buckets.max(1));
    let buckets = summary.buckets;
    (0..parts).map(move |part| part * buckets / parts..(part + 1) * buckets / parts)
}

fn part(group: &PeerGroup, side: &[usize], name: &str) -> PeerGroup {
    let mut members: Vec<usize> = side.iter().map(|&at| group.members[at]).collect();
    members.sort_unstable();
    PeerGroup { name: format!("{} {name}", group.name), kind: group.kind.clone(), members }
}
