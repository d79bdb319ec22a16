//! Metrics on a common time grid, derived from raw samples.
//! In: rows of counters or rates, in the order of recording. Out: [`Table`]. Always: NaN means missing, and a 1 s recording
//! read every 15 s gives exactly the values of a 15 s recording.
//!
//! A counter has a value at an instant of the grid only if a sample was taken there, and a metric compares two neighbouring
//! instants, never samples in between. Resets, wraps, reboots and clock steps are handled only in [`counters`] and
//! [`collect`].

pub mod clocks;
pub mod collect;
pub mod counters;
pub mod coverage;
pub mod covered_times;
pub mod grid;
pub mod host_paths;
pub mod outages;
pub mod rates;
pub mod recorded_hosts;
pub mod recorded_times;
pub mod schedule;
pub mod summary;
pub mod value_ranges;

use std::sync::Arc;

use crate::model::metric::Metric;
use grid::Grid;

/// One metric of many components at the instants of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub metric: &'static Metric,
    /// The value at an instant covers the step that ends there.
    pub grid: Grid,
    pub components: Vec<Arc<str>>,
    /// For each component, one value for each instant; NaN where it is missing.
    pub values: Vec<f64>,
}

impl Table {
    pub fn new(metric: &'static Metric, grid: Grid) -> Table {
        Table { metric, grid, components: Vec::new(), values: Vec::new() }
    }

    /// The values of one component.
    pub fn row(&self, component: usize) -> &[f64] {
        &self.values[component * self.grid.len..][..self.grid.len]
    }

    /// The same components on a part of the grid.
    pub fn part(&self, grid: Grid) -> Table {
        let instants = self.grid.after(grid.start - grid.step, grid.end());
        let mut values = Vec::with_capacity(self.components.len() * grid.len);
        for row in 0..self.components.len() {
            values.extend_from_slice(&self.row(row)[instants.clone()]);
        }
        Table { metric: self.metric, grid, components: self.components.clone(), values }
    }

    /// Adds the components of another table of the same metric and grid.
    pub fn extend(&mut self, other: Table) {
        debug_assert_eq!((self.metric.id, self.grid), (other.metric.id, other.grid));
        self.components.extend(other.components);
        self.values.extend(other.values);
    }
}

#[cfg(test)]
mod tests {
    use super::covered_times::portions;
    use super::*;
    use crate::model::metric::MetricId;
    use crate::model::time::{Span, Timestamp};

    #[test]
    fn the_parts_of_a_table_have_its_values_in_the_order_of_time() {
        let grid = Grid { start: Timestamp::from_seconds(30), step: Span::from_seconds(15), len: 3 };
        let components = vec!["a".into(), "b".into()];
        let metric = MetricId::Await.metric();
        let table = Table { metric, grid, components, values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
        let values = portions(grid, 2).into_iter().map(|part| table.part(part).values);
        assert_eq!(values.collect::<Vec<_>>(), [vec![1.0, 2.0, 4.0, 5.0], vec![3.0, 6.0]]);
    }
}
