//! From tables to scores: all peer groups of a recording, watched by one method.
//! In: [`Table`]s of every component, stretch after stretch. Out: [`MetricScores`]s, group by group.
//! Always: a group of fewer than three is not judged; a member without samples is judged as missing.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use crate::methods::{Detector, Method, Peers};
use crate::model::cluster::Inventory;
use crate::model::metric::{Metric, MetricId};
use crate::scores::MetricScores;
use crate::tables::Table;

/// All peer groups of a recording, being watched.
pub struct Examination {
    groups: Vec<Watched>,
}

/// What a method says of a peer group.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The index of the group in the inventory.
    pub group: usize,
    /// A judgement for each metric, of the members in their order.
    pub judgements: Vec<MetricScores>,
}

struct Watched {
    group: usize,
    metrics: Vec<&'static Metric>,
    recorded: Vec<Arc<str>>,
    detector: Box<dyn Detector>,
}

impl Examination {
    /// Begins to watch the groups of an inventory that can be judged.
    pub fn new(inventory: &Inventory, method: &dyn Method) -> Examination {
        let judged = inventory.groups.iter().enumerate().filter(|(_, group)| group.is_judged());
        let groups = judged.map(|(number, group)| {
            let component = |&index: &usize| &inventory.components[index];
            let peers = Peers {
                group: group.name.clone(),
                kind: group.kind.clone(),
                members: group.members.iter().map(|m| component(m).name.as_str().into()).collect(),
                servers: group.members.iter().map(|m| component(m).server().into()).collect(),
            };
            Watched {
                group: number,
                metrics: method.metrics(&group.kind),
                recorded: group.members.iter().map(|m| component(m).recorded.as_str().into()).collect(),
                detector: method.watch(&peers),
            }
        });
        Examination { groups: groups.collect() }
    }

    /// What the method wants to see, each metric once.
    pub fn metrics(&self) -> Vec<&'static Metric> {
        let mut metrics: Vec<&'static Metric> = Vec::new();
        for metric in self.groups.iter().flat_map(|watched| &watched.metrics) {
            if !metrics.contains(metric) {
                metrics.push(metric);
            }
        }
        metrics
    }

    /// Judges what comes next: a table for each metric, all on one grid.
    pub fn evaluate(&mut self, tables: &[Table]) -> Vec<Examined> {
        let tables: BTreeMap<MetricId, (&Table, Rows)> =
            tables.iter().map(|table| (table.metric.id, (table, rows(table)))).collect();
        let judge = |watched: &mut Watched| {
            let of_metric =
                |metric: &&'static Metric| tables.get(&metric.id).and_then(|(t, r)| watched.part(t, r));
            let parts: Vec<Table> = watched.metrics.iter().filter_map(of_metric).collect();
            Examined { group: watched.group, judgements: watched.detector.evaluate(&parts) }
        };
        self.groups.iter_mut().collect::<Vec<_>>().into_par_iter().map(judge).collect()
    }

    /// Judges what is left.
    pub fn finish(&mut self) -> Vec<Examined> {
        let finish =
            |watched: &mut Watched| Examined { group: watched.group, judgements: watched.detector.finish() };
        self.groups.iter_mut().map(finish).collect()
    }
}

/// Which row a component has in a table.
type Rows<'a> = HashMap<&'a str, usize>;

fn rows(table: &Table) -> Rows<'_> {
    table.components.iter().enumerate().map(|(row, name)| (&**name, row)).collect()
}

impl Watched {
    /// The members' part of a table; nothing if it speaks of none of them.
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
