//! A part of a recording that is small enough to be diagnosed many times.
//! In: a recording, while it is diagnosed, and the peer groups that its diagnosis used. Out: [`Sample`]. Always: it has
//! some disks, and everything of their hosts that the diagnosis of a disk depends on, for the whole time.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use laggard_core::model::cluster::{Inventory, PeerGroup};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::random::Random;
use laggard_core::model::time::Span;
use laggard_core::recording::{ReadError, Recording, Visitor};
use laggard_core::suspects::feedback::Feedback;
use laggard_core::tables::Table;
use laggard_core::tables::recorded_times::RecordedTimes;

use super::candidates::shuffled;
use crate::overlay::with_load;

/// Identifies the random numbers of this file.
const OF_MEMBERS: u64 = 177;

/// Keeps a part of the tables that are read through it.
pub(super) struct SamplingRecording<'a> {
    inner: &'a mut dyn Recording,
    /// Recorded names.
    kept: BTreeSet<String>,
    portions: Vec<Portion>,
}

/// Tables, and the share of the recording that is done.
type Portion = (Vec<Table>, f64);

pub(super) struct Sample {
    inventory: Inventory,
    /// Feedback would hide disks.
    feedback: Feedback,
    times: RecordedTimes,
    portions: Vec<Portion>,
}

/// The number of disks that are compared with peers.
pub(super) fn disks(inventory: &Inventory) -> usize {
    groups_of_disks(inventory).iter().map(|group| group.members.len()).sum()
}

/// The largest first.
fn groups_of_disks(inventory: &Inventory) -> Vec<&PeerGroup> {
    let groups = inventory.groups.iter().filter(|group| group.kind.is_disk() && group.is_evaluated());
    let mut groups: Vec<&PeerGroup> = groups.collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
    groups
}

impl<'a> SamplingRecording<'a> {
    /// Keeps `most` disks, of the largest groups.
    pub(super) fn new(inner: &'a mut dyn Recording, most: usize, seed: u64) -> SamplingRecording<'a> {
        let kept = kept(inner.inventory(), most, seed);
        SamplingRecording { inner, kept, portions: Vec::new() }
    }

    /// The sample, with the peer groups that the diagnosis used.
    pub(super) fn into_sample(self, used: &Inventory) -> Sample {
        Sample {
            inventory: restricted(used, &self.kept),
            feedback: Feedback::default(),
            times: self.inner.times().clone(),
            portions: self.portions,
        }
    }
}

/// The recorded names of whole groups of disks, or of a part of the largest, and of the interfaces and counters of their hosts: whether load explains a latency
/// depends on them. Links do not matter for disks, and there are many.
fn kept(inventory: &Inventory, most: usize, seed: u64) -> BTreeSet<String> {
    let mut disks: BTreeSet<usize> = BTreeSet::new();
    for group in groups_of_disks(inventory) {
        if disks.is_empty() {
            let members = shuffled(&group.members, &mut Random::of(seed, &[OF_MEMBERS]));
            disks.extend(members.into_iter().take(most));
        } else if disks.len() + group.members.len() <= most {
            disks.extend(&group.members);
        }
    }
    let hosts: BTreeSet<&str> = disks.iter().map(|&disk| inventory.components[disk].host.as_str()).collect();
    let of_hosts = [Kind::SERVER, Kind::CLIENT, Kind::NIC];
    let components = inventory.components.iter().enumerate();
    let kept = components.filter(|(index, component)| {
        disks.contains(index) || of_hosts.contains(&component.kind) && hosts.contains(component.host.as_str())
    });
    kept.map(|(_, component)| component.recorded.clone()).collect()
}

/// The inventory of some components, by their recorded names. It states its groups: selecting peers again would take
/// time, and give the same ones.
fn restricted(inventory: &Inventory, kept: &BTreeSet<String>) -> Inventory {
    let indices: Vec<usize> = (0..inventory.components.len())
        .filter(|&index| kept.contains(&inventory.components[index].recorded))
        .collect();
    let group = |group: &PeerGroup| PeerGroup {
        members: group.members.iter().filter_map(|member| indices.binary_search(member).ok()).collect(),
        ..group.clone()
    };
    Inventory {
        components: indices.iter().map(|&index| inventory.components[index].clone()).collect(),
        groups: inventory.groups.iter().map(group).filter(|group| !group.members.is_empty()).collect(),
        is_stated: true,
        ..Inventory::default()
    }
}

impl Recording for SamplingRecording<'_> {
    fn inventory(&self) -> &Inventory {
        self.inner.inventory()
    }

    fn feedback(&self) -> &Feedback {
        self.inner.feedback()
    }

    fn times(&self) -> &RecordedTimes {
        self.inner.times()
    }

    fn problems(&self) -> Vec<String> {
        self.inner.problems()
    }

    fn visit(
        &mut self,
        metrics: &[&'static Metric],
        step: Span,
        visitor: &mut Visitor<'_>,
    ) -> Result<ControlFlow<()>, ReadError> {
        // A closer look at some requests is not a part of the sample.
        if !metrics.iter().any(|metric| metric.id == MetricId::Await) {
            return self.inner.visit(metrics, step, visitor);
        }
        let (kept, portions) = (&self.kept, &mut self.portions);
        portions.clear();
        self.inner.visit(&with_load(metrics), step, &mut |tables, done| {
            portions.push((tables.iter().map(|table| rows(table, kept)).collect(), done));
            visitor(&tables[..metrics.len()], done)
        })
    }
}

/// The rows of some components.
fn rows(table: &Table, kept: &BTreeSet<String>) -> Table {
    let mut part = Table::new(table.metric, table.grid);
    for (row, name) in table.components.iter().enumerate().filter(|(_, name)| kept.contains(&***name)) {
        part.components.push(name.clone());
        part.values.extend_from_slice(table.row(row));
    }
    part
}

impl Recording for Sample {
    fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    fn feedback(&self) -> &Feedback {
        &self.feedback
    }

    fn times(&self) -> &RecordedTimes {
        &self.times
    }

    fn problems(&self) -> Vec<String> {
        Vec::new()
    }

    /// Fails for metrics that the diagnosis did not read.
    fn visit(
        &mut self,
        metrics: &[&'static Metric],
        _step: Span,
        visitor: &mut Visitor<'_>,
    ) -> Result<ControlFlow<()>, ReadError> {
        for (tables, done) in &self.portions {
            let table =
                |metric: &&'static Metric| tables.iter().find(|table| table.metric.id == metric.id).cloned();
            let wanted: Option<Vec<Table>> = metrics.iter().map(table).collect();
            // A trial may look closer at the requests of its disk: these were not kept.
            let Some(wanted) = wanted else { break };
            if visitor(&wanted, *done).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
