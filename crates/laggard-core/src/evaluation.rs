//! From tables to verdicts: all peer groups of a recording, compared by one method.
//! In: [`Table`]s of every component, portion by portion. Out: [`GroupScores`].
//! Always: a group of fewer than three is not evaluated; a member without samples is evaluated as absent.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use crate::methods::{Detector, Method, Peers};
use crate::model::cluster::Inventory;
use crate::model::metric::{Metric, MetricId};
use crate::scores::MetricScores;
use crate::tables::Table;

/// All peer groups of a recording, each with its detector.
pub struct Evaluation {
    groups: Vec<GroupDetector>,
}

/// The verdicts on the members of a peer group.
#[derive(Clone, Debug)]
pub struct GroupScores {
    /// The index of the group in the inventory.
    pub group: usize,
    /// One for each metric; members in the order of the group.
    pub metrics: Vec<MetricScores>,
}

struct GroupDetector {
    group: usize,
    metrics: Vec<&'static Metric>,
    recorded: Vec<Arc<str>>,
    detector: Box<dyn Detector>,
}

impl Evaluation {
    /// Covers the groups of an inventory that are large enough.
    pub fn new(inventory: &Inventory, method: &dyn Method) -> Evaluation {
        let large = inventory.groups.iter().enumerate().filter(|(_, group)| group.is_evaluated());
        let groups = large.map(|(number, group)| {
            let component = |&index: &usize| &inventory.components[index];
            let peers = Peers {
                group: group.name.clone(),
                kind: group.kind.clone(),
                members: group.members.iter().map(|m| component(m).name.as_str().into()).collect(),
                servers: group.members.iter().map(|m| component(m).server().into()).collect(),
            };
            GroupDetector {
                group: number,
                metrics: method.metrics(&group.kind),
                recorded: group.members.iter().map(|m| component(m).recorded.as_str().into()).collect(),
                detector: method.detector(&peers),
            }
        });
        Evaluation { groups: groups.collect() }
    }

    /// The metrics that the method compares, each once.
    pub fn metrics(&self) -> Vec<&'static Metric> {
        let mut metrics: Vec<&'static Metric> = Vec::new();
        for metric in self.groups.iter().flat_map(|group| &group.metrics) {
            if !metrics.contains(metric) {
                metrics.push(metric);
            }
        }
        metrics
    }

    /// Evaluates the next portion: a table for each metric, all on one grid.
    pub fn evaluate(&mut self, tables: &[Table]) -> Vec<GroupScores> {
        let tables: BTreeMap<MetricId, (&Table, Rows)> =
            tables.iter().map(|table| (table.metric.id, (table, rows(table)))).collect();
        let evaluate = |group: &mut GroupDetector| {
            let of_metric =
                |metric: &&'static Metric| tables.get(&metric.id).and_then(|(t, r)| group.part(t, r));
            let parts: Vec<Table> = group.metrics.iter().filter_map(of_metric).collect();
            GroupScores { group: group.group, metrics: group.detector.evaluate(&parts) }
        };
        self.groups.iter_mut().collect::<Vec<_>>().into_par_iter().map(evaluate).collect()
    }

    /// Evaluates the windows that are still open.
    pub fn finish(&mut self) -> Vec<GroupScores> {
        let finish =
            |group: &mut GroupDetector| GroupScores { group: group.group, metrics: group.detector.finish() };
        self.groups.iter_mut().map(finish).collect()
    }
}

/// The row of each component in a table.
type Rows<'a> = HashMap<&'a str, usize>;

fn rows(table: &Table) -> Rows<'_> {
    table.components.iter().enumerate().map(|(row, name)| (&**name, row)).collect()
}

impl GroupDetector {
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
