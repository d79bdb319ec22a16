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

    /// Adds the components of another table of the same metric and grid.
    pub fn extend(&mut self, other: Table) {
        debug_assert_eq!((self.metric.id, self.grid), (other.metric.id, other.grid));
        self.components.extend(other.components);
        self.values.extend(other.values);
    }
}
