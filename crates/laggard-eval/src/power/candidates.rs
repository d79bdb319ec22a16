//! The disks and times that slowdowns are tried on.
//! In: a diagnosis without a slowdown. Out: [`DiskTrials`]. Always: a disk has requests at the time of a trial, and is not
//! a suspect without a slowdown.

use std::collections::BTreeMap;

use laggard_core::model::cluster::{Component, Inventory, PeerGroup};
use laggard_core::model::device::DeviceClass;
use laggard_core::model::random::Random;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::report::Report;

use super::cases::durations;
use super::trials::{DiskTrials, TrialTime, names};
use crate::overlay::ActiveDisks;

/// Identifies the random numbers of this file.
const OF_DISKS: u64 = 175;
const OF_BEGINS: u64 = 176;

/// More groups have one table for all of a kind: it would take too long to try slowdowns on each.
const MOST_GROUPS: usize = 6;

/// Begins that are drawn until one is usable.
const DRAWS: usize = 20;

/// The active disks of a peer group, or of several alike ones.
pub(super) struct CandidateGroup {
    pub(super) name: String,
    pub(super) peer_groups: usize,
    pub(super) members: usize,
    pub(super) disks: Vec<Component>,
}

/// The diagnosis without a slowdown.
pub(super) struct Baseline<'a> {
    pub(super) report: &'a Report,
    pub(super) active_disks: &'a ActiveDisks,
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
    /// The interval of the recording.
    pub(super) step: Span,
}

/// The evaluated groups with active disks.
pub(super) fn groups(inventory: &Inventory, report: &Report, disks: &ActiveDisks) -> Vec<CandidateGroup> {
    let active: Vec<&str> = disks.names().collect();
    let is_active = |component: &&Component| active.binary_search(&component.recorded.as_str()).is_ok();
    let is_evaluated = |group: &&PeerGroup| {
        let mut evaluated = report.groups.iter().filter(|shown| shown.is_evaluated);
        evaluated.any(|shown| shown.name == group.name && shown.kind == group.kind)
    };
    let group = |group: &PeerGroup| {
        let members = group.members.iter().map(|&index| &inventory.components[index]);
        let disks = members.filter(is_active).cloned().collect();
        CandidateGroup { name: group.name.clone(), peer_groups: 1, members: group.members.len(), disks }
    };
    let groups = inventory.groups.iter().filter(is_evaluated).map(group);
    let groups: Vec<CandidateGroup> = groups.filter(|group| !group.disks.is_empty()).collect();
    if groups.len() > MOST_GROUPS { pooled(groups) } else { groups }
}

/// Joins groups of the same kind and class: there may be one for each server.
fn pooled(groups: Vec<CandidateGroup>) -> Vec<CandidateGroup> {
    let mut pools: BTreeMap<String, CandidateGroup> = BTreeMap::new();
    for group in groups {
        let kind = |disk: &Component| match disk.class.filter(|class| *class != DeviceClass::Unknown) {
            Some(class) => format!("{} class={class}", disk.kind),
            None => disk.kind.to_string(),
        };
        let name = group.disks.first().map(kind).unwrap_or_default();
        let empty = CandidateGroup { name: name.clone(), peer_groups: 0, members: 0, disks: Vec::new() };
        let pool = pools.entry(name).or_insert(empty);
        pool.peer_groups += 1;
        pool.members += group.members;
        pool.disks.extend(group.disks);
    }
    pools.into_values().collect()
}

impl CandidateGroup {
    /// The trials of a group: a disk each as long as there are enough.
    pub(super) fn trials(
        &self,
        group: usize,
        baseline: &Baseline,
        count: usize,
        seed: u64,
    ) -> Vec<DiskTrials> {
        let disks = shuffled(&self.disks, &mut Random::of(seed, &[OF_DISKS, group as u64]));
        let trials = |number: usize| {
            let disk = disks[number % disks.len()].clone();
            let mut random = Random::of(seed, &[OF_BEGINS, group as u64, number as u64]);
            let mut times = baseline.times(&disk, &mut random);
            // The whole recording has no other begin to try.
            let whole = (baseline.from, baseline.to);
            times.retain(|time| number < disks.len() || (time.begin, time.end) != whole);
            DiskTrials { group, disk, times }
        };
        (0..count).map(trials).filter(|trials| !trials.times.is_empty()).collect()
    }
}

fn shuffled<T: Clone>(values: &[T], random: &mut Random) -> Vec<T> {
    let mut shuffled = values.to_vec();
    for last in (1..shuffled.len()).rev() {
        shuffled.swap(last, random.below(last + 1));
    }
    shuffled
}

impl Baseline<'_> {
    /// A time for each duration, the longest first, each within the one before. Durations without a usable time are
    /// left out.
    fn times(&self, disk: &Component, random: &mut Random) -> Vec<TrialTime> {
        let (mut from, mut to) = (self.from, self.to);
        let mut times = Vec::new();
        for (duration, &length) in durations(to - from).iter().enumerate().rev() {
            let free = ((to - from).seconds() - length.seconds()).max(0.0);
            let draws: Vec<f64> = (0..DRAWS).map(|_| random.between(0.0, free)).collect();
            let begins = draws.into_iter().map(|seconds| from + Span::from_micros((seconds * 1e6) as i64));
            let mut usable = begins.filter(|begin| self.is_usable(disk, *begin, *begin + length));
            if let Some(begin) = usable.next() {
                (from, to) = (begin, begin + length);
                times.push(TrialTime { duration, begin, end: to });
            }
        }
        times
    }

    fn is_usable(&self, disk: &Component, begin: Timestamp, end: Timestamp) -> bool {
        self.active_disks.is_active_in(&disk.recorded, begin, end)
            && !names(self.report, disk, begin - self.step, end + self.step)
    }
}

#[cfg(test)]
mod tests {
    use laggard_core::model::cluster::{ClusterFile, Recorded};
    use laggard_core::model::component::Kind;

    use super::*;

    #[test]
    fn many_groups_of_a_kind_have_one_table() {
        let recorded = |host: usize| Recorded {
            name: format!("host{host}:sda"),
            kind: Kind::ATTACHMENT,
            host: format!("host{host}"),
        };
        let recorded: Vec<Recorded> = (0..8).map(recorded).collect();
        let disks = Inventory::new(&ClusterFile::default(), &recorded).components;
        let group = |disk: &Component| CandidateGroup {
            name: disk.name.clone(),
            peer_groups: 1,
            members: 3,
            disks: vec![disk.clone()],
        };
        let pools = pooled(disks.iter().map(group).collect());
        let sizes: Vec<_> =
            pools.iter().map(|pool| (pool.peer_groups, pool.members, pool.disks.len())).collect();
        assert_eq!(sizes, [(8, 24, 8)]);
    }
}
