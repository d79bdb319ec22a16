//! Hosts whose disks do other work than those of all others for the whole recording: they write where others read, or the
//! other way round. No fault of a disk has this effect. A server of metadata beside servers of data is no peer of these, and neither is a host that only receives backups.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::mixtures::{LOAD_RATIO, parts};
use crate::model::cluster::{FEWEST_PEERS, Inventory, LeftOut, LeftOutReason, PeerGroup};
use crate::model::metric::MetricId;
use crate::tables::summary::Summary;

/// A smaller share of what a disk moves does not count.
const NEGLIGIBLE_SHARE: f64 = 0.01;
/// Another program that uses a disk changes what that does; it does not use all disks of a host.
const FEWEST_DISKS: usize = 2;

/// Removes the disks of such hosts from their groups; several of them are a group of their own.
pub(super) fn separate(inventory: &mut Inventory, summary: &Summary) {
    let mut others = Vec::new();
    for group in &mut inventory.groups {
        let ratios = |range: Range<usize>| -> Vec<f64> {
            let ratio = |&member: &usize| {
                let component = &inventory.components[member];
                component.class.map_or(f64::NAN, |_| read_ratio(&component.recorded, range.clone(), summary))
            };
            group.members.iter().map(ratio).collect()
        };
        let differ: Vec<Vec<bool>> = parts(summary).map(|range| differing(&ratios(range))).collect();
        let mut hosts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, &member) in group.members.iter().enumerate() {
            hosts.entry(&inventory.components[member].host).or_default().push(at);
        }
        let is_other = |disks: &Vec<usize>| {
            disks.len() >= FEWEST_DISKS && disks.iter().all(|&at| differ.iter().all(|part| part[at]))
        };
        let apart: BTreeSet<usize> =
            hosts.into_values().filter(is_other).flatten().map(|at| group.members[at]).collect();
        if !apart.is_empty() && group.members.len() >= apart.len() + FEWEST_PEERS {
            group.members.retain(|member| !apart.contains(member));
            others.push(PeerGroup {
                name: format!("{} work=other", group.name),
                kind: group.kind.clone(),
                members: apart.into_iter().collect(),
            });
        }
    }
    for other in others {
        if other.is_evaluated() {
            inventory.groups.push(other);
            continue;
        }
        let left_out = other.members.iter().filter_map(|&member| {
            let component = &inventory.components[member];
            let (name, class) = (component.recorded.clone(), component.class?);
            Some(LeftOut { name, class, reason: LeftOutReason::OtherWork })
        });
        let left_out: Vec<LeftOut> = left_out.collect();
        inventory.left_out.extend(left_out);
    }
    inventory.left_out.sort_by(|a, b| a.name.cmp(&b.name));
}

/// The logarithm of reads over writes; NaN where a disk moves nothing.
fn read_ratio(recorded: &str, range: Range<usize>, summary: &Summary) -> f64 {
    let moved = |metric| summary.mean(metric, recorded, range.clone()).unwrap_or(f64::NAN);
    let (read, written) = (moved(MetricId::RdSec), moved(MetricId::WrSec));
    let negligible = NEGLIGIBLE_SHARE * (read + written);
    ((read + negligible) / (written + negligible)).ln()
}

fn differing(ratios: &[f64]) -> Vec<bool> {
    let mut known: Vec<f64> = ratios.iter().copied().filter(|ratio| !ratio.is_nan()).collect();
    known.sort_by(f64::total_cmp);
    let middle = known.get(known.len() / 2).copied().unwrap_or(f64::NAN);
    ratios.iter().map(|ratio| (ratio - middle).abs() > LOAD_RATIO.ln()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::{ClusterFile, Recorded};
    use crate::model::component::Kind;
    use crate::model::time::{Span, Timestamp};
    use crate::tables::Table;
    use crate::tables::grid::Grid;

    /// The disks that are left out of those of four hosts with two disks each, by their sectors read and written.
    fn left_out(sectors: impl Fn(&str) -> (f64, f64)) -> Vec<String> {
        let names =
            ["a", "b", "c", "d"].iter().flat_map(|host| ["sda", "sdb"].map(|d| format!("{host}:{d}")));
        let names: Vec<String> = names.collect();
        let recorded: Vec<Recorded> = names
            .iter()
            .map(|name| Recorded { name: name.clone(), kind: Kind::ATTACHMENT, host: name[..1].into() })
            .collect();
        let mut inventory = Inventory::new(&ClusterFile::default(), &recorded);
        let (start, step) = (Timestamp::from_seconds(0), Span::SECOND);
        let grid = Grid { start: start + step, step, len: 8 };
        let mut summary = Summary::new(start, grid.end(), step, names.len());
        for (metric, is_read) in [(MetricId::RdSec, true), (MetricId::WrSec, false)] {
            let of = |name: &String| if is_read { sectors(name).0 } else { sectors(name).1 };
            summary.take(&Table {
                metric: metric.metric(),
                grid,
                components: names.iter().map(|name| name.as_str().into()).collect(),
                values: names.iter().flat_map(|name| [of(name); 8]).collect(),
            });
        }
        separate(&mut inventory, &summary);
        inventory.left_out.into_iter().map(|left_out| left_out.name).collect()
    }

    #[test]
    fn a_host_that_only_writes_is_no_peer_of_hosts_that_read() {
        let writer = |name: &str| if name.starts_with('c') { (0.0, 50.0) } else { (800.0, 200.0) };
        assert_eq!(left_out(writer), ["c:sda", "c:sdb"]);
    }

    #[test]
    fn a_single_disk_of_a_host_that_reads_for_another_program_stays() {
        let hog = |name: &str| if name == "c:sda" { (900.0, 50.0) } else { (0.0, 200.0) };
        assert_eq!(left_out(hog), [""; 0]);
        assert_eq!(left_out(|_| (800.0, 200.0)), [""; 0]);
    }
}
