//! From tables to verdicts: all peer groups of a recording, compared by one method.
//! In: [`Table`]s of every component, portion by portion. Out: [`GroupScores`].
//! Always: a group of fewer than three is not evaluated; a member without samples is evaluated as absent.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::methods::{Evaluator, GroupTables, Method, Peers};
use crate::model::cluster::{Component, Inventory};
use crate::model::device::DeviceClass;
use crate::model::metric::{Metric, MetricId};
use crate::scores::MetricScores;
use crate::tables::Table;
use crate::tables::host_paths::HostPaths;
use crate::tables::recorded_hosts::RecordedHosts;

/// All peer groups of a recording.
pub struct Evaluation {
    groups: Vec<EvaluatedGroup>,
    evaluator: Box<dyn Evaluator>,
    /// The host of each recorded component, in any group or none.
    hosts: HashMap<Arc<str>, Arc<str>>,
    /// Only for methods that compare the paths of hosts.
    paths: Option<HostPaths>,
}

/// The verdicts on the members of a peer group.
#[derive(Clone, Debug)]
pub struct GroupScores {
    /// The index of the group in the inventory.
    pub group: usize,
    /// One for each metric; members in the order of the group.
    pub metrics: Vec<MetricScores>,
}

struct EvaluatedGroup {
    group: usize,
    metrics: Vec<&'static Metric>,
    recorded: Vec<Arc<str>>,
}

impl Evaluation {
    /// Covers the groups of an inventory that are large enough.
    pub fn new(inventory: &Inventory, method: &dyn Method) -> Evaluation {
        let component = |&index: &usize| &inventory.components[index];
        let large = || inventory.groups.iter().enumerate().filter(|(_, group)| group.is_evaluated());
        let peers: Vec<Peers> = large()
            .map(|(_, group)| Peers {
                group: group.name.clone(),
                kind: group.kind.clone(),
                class: class(group.members.iter().map(component)),
                members: group.members.iter().map(|m| component(m).name.as_str().into()).collect(),
                servers: group.members.iter().map(|m| component(m).server().into()).collect(),
            })
            .collect();
        let groups = large().map(|(number, group)| EvaluatedGroup {
            group: number,
            metrics: method.metrics(&group.kind),
            recorded: group.members.iter().map(|m| component(m).recorded.as_str().into()).collect(),
        });
        let groups: Vec<EvaluatedGroup> = groups.collect();
        let needs_paths = groups.iter().flat_map(|group| &group.metrics).any(|metric| is_of_paths(metric));
        Evaluation {
            groups,
            evaluator: method.evaluator(&peers),
            hosts: inventory.hosts(),
            paths: needs_paths.then(|| HostPaths::new(inventory)),
        }
    }

    /// The recorded metrics that the method needs, each once.
    pub fn metrics(&self) -> Vec<&'static Metric> {
        let mut metrics: Vec<&'static Metric> = Vec::new();
        for metric in self.groups.iter().flat_map(|group| &group.metrics) {
            if metric.is_recorded() && !metrics.contains(metric) {
                metrics.push(metric);
            }
        }
        metrics
    }

    /// The recorded instants of each host in a portion.
    pub fn recorded_hosts(&self, tables: &[Table]) -> RecordedHosts {
        RecordedHosts::of(tables, &self.hosts)
    }

    /// The tables of hosts that are computed from those of a portion.
    pub fn derived(&mut self, tables: &[Table]) -> Vec<Table> {
        self.paths.as_mut().map(|paths| paths.tables(tables)).unwrap_or_default()
    }

    /// Evaluates the next portion: a table for each metric, all on one grid.
    pub fn evaluate(&mut self, tables: &[Table]) -> Vec<GroupScores> {
        let derived = self.derived(tables);
        self.evaluate_recorded(tables, &derived, &self.recorded_hosts(tables))
    }

    /// The same where the derived tables and the recorded instants are known.
    pub fn evaluate_recorded(
        &mut self,
        tables: &[Table],
        derived: &[Table],
        recorded: &RecordedHosts,
    ) -> Vec<GroupScores> {
        let all = tables.iter().chain(derived);
        let tables: BTreeMap<MetricId, (&Table, Rows)> =
            all.map(|table| (table.metric.id, (table, rows(table)))).collect();
        let hosts = &self.hosts;
        let of_group = |group: &EvaluatedGroup| {
            let of_metric =
                |metric: &&'static Metric| tables.get(&metric.id).and_then(|(t, r)| group.part(t, r));
            let tables: Vec<Table> = group.metrics.iter().filter_map(of_metric).collect();
            let of_member = |name: &Arc<str>| recorded.of_host(hosts.get(name)).iter().copied();
            let is_recorded = group.recorded.iter().flat_map(of_member).collect();
            GroupTables { tables, is_recorded }
        };
        let portions = self.groups.par_iter().map(of_group).collect();
        let scores = self.evaluator.evaluate(portions);
        self.numbered(scores)
    }

    /// Evaluates the windows that are still open.
    pub fn finish(&mut self) -> Vec<GroupScores> {
        let scores = self.evaluator.finish();
        self.numbered(scores)
    }

    fn numbered(&self, scores: Vec<Vec<MetricScores>>) -> Vec<GroupScores> {
        let numbered = self.groups.iter().zip(scores);
        numbered.map(|(group, metrics)| GroupScores { group: group.group, metrics }).collect()
    }
}

fn is_of_paths(metric: &Metric) -> bool {
    metric.is_tabulated() && !metric.is_recorded()
}

/// The class of block devices, if all have the same.
fn class<'a>(mut components: impl Iterator<Item = &'a Component>) -> Option<DeviceClass> {
    let class = components.next()?.class;
    if components.all(|component| component.class == class) { class } else { None }
}

/// The row of each component in a table.
type Rows<'a> = HashMap<&'a str, usize>;

fn rows(table: &Table) -> Rows<'_> {
    table.components.iter().enumerate().map(|(row, name)| (&**name, row)).collect()
}

impl EvaluatedGroup {
    /// The members' rows of a table; nothing if it has none of them.
    fn part(&self, table: &Table, rows: &Rows) -> Option<Table> {
        if !self.recorded.iter().any(|name| rows.contains_key(&**name)) {
            return None;
        }
        let mut values = Vec::with_capacity(self.recorded.len() * table.grid.len);
        for name in &self.recorded {
            match rows.get(&**name) {
                Some(&row) => values.extend_from_slice(table.row(row)),
                None => values.resize(values.len() + table.grid.len, f64::NAN),
            }
        }
        Some(Table { metric: table.metric, grid: table.grid, components: self.recorded.clone(), values })
    }
}
