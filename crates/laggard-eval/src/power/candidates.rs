//! The disks and times that slowdowns are tried on.
//! In: a diagnosis without a slowdown. Out: [`DiskTrials`]. Always: a disk has requests at the time of a trial, and is not
//! a suspect without a slowdown.

use std::collections::BTreeMap;

use laggard_core::model::cluster::{Component, Inventory, PeerGroup};
use laggard_core::model::device::DeviceClass;
use laggard_core::model::random::Random;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::report::Report;

use super::plan::Plan;
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

/// The diagnosis without a slowdown, and what can be tried.
pub(super) struct Baseline {
    pub(super) report: Report,
    pub(super) groups: Vec<CandidateGroup>,
    pub(super) active_disks: ActiveDisks,
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
    /// The interval of the recording.
    pub(super) step: Span,
    /// In ascending order; the last is the whole recording.
    pub(super) durations: Vec<Span>,
}

/// The evaluated groups with active disks; joined, if there should be one result for all disks.
pub(super) fn groups(
    inventory: &Inventory,
    report: &Report,
    disks: &ActiveDisks,
    is_pooled: bool,
) -> Vec<CandidateGroup> {
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
    let of_disks = inventory.groups.iter().filter(|group| group.kind.is_disk());
    let mut groups: Vec<CandidateGroup> = of_disks.filter(is_evaluated).map(group).collect();
    if is_pooled {
        groups = joined(groups, |_| ALL_DISKS.to_owned());
    }
    groups.retain(|group| !group.disks.is_empty());
    if groups.len() > MOST_GROUPS { joined(groups, kind) } else { groups }
}

const ALL_DISKS: &str = "disks";

/// The kind and class of the disks of a group: there may be a group for each server.
fn kind(group: &CandidateGroup) -> String {
    let kind = |disk: &Component| match disk.class.filter(|class| *class != DeviceClass::Unknown) {
        Some(class) => format!("{} class={class}", disk.kind),
        None => disk.kind.to_string(),
    };
    group.disks.first().map(kind).unwrap_or_default()
}

/// Joins groups of the same name.
fn joined(groups: Vec<CandidateGroup>, name: impl Fn(&CandidateGroup) -> String) -> Vec<CandidateGroup> {
    let mut pools: BTreeMap<String, CandidateGroup> = BTreeMap::new();
    for group in groups {
        let name = name(&group);
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
        Plan { trials: count, seed, .. }: Plan,
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

pub(super) fn shuffled<T: Clone>(values: &[T], random: &mut Random) -> Vec<T> {
    let mut shuffled = values.to_vec();
    for last in (1..shuffled.len()).rev() {
        shuffled.swap(last, random.below(last + 1));
    }
    shuffled
}

impl Baseline {
    /// A time for each duration, the longest first, each within the one before. Durations without a usable time are
    /// left out.
    pub(super) fn times(&self, disk: &Component, random: &mut Random) -> Vec<TrialTime> {
        let (mut from, mut to) = (self.from, self.to);
        let mut times = Vec::new();
        for (duration, &length) in self.durations.iter().enumerate().rev() {
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

    /// True if a report names a disk, or a component that contains it, between two times.
    pub(super) fn names(&self, report: &Report, disk: &Component, begin: Timestamp, end: Timestamp) -> bool {
        names(report, disk, begin - self.step, end + self.step)
    }

    fn is_usable(&self, disk: &Component, begin: Timestamp, end: Timestamp) -> bool {
        self.active_disks.is_active_in(&disk.recorded, begin, end)
            && !self.names(&self.report, disk, begin, end)
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
        let pools = joined(disks.iter().map(group).collect(), kind);
        let sizes: Vec<_> =
            pools.iter().map(|pool| (pool.peer_groups, pool.members, pool.disks.len())).collect();
        assert_eq!(sizes, [(8, 24, 8)]);
    }
}
