//! Metrics on a common time grid, derived from raw samples.
//! In: rows of counters or rates, in the order of recording. Out: [`Table`]. Always: NaN means missing, and a
//! recording looked at every 15 s says exactly what a recording made every 15 s would have said.
//!
//! How that is kept: a counter has a value at an instant of the grid only if a sample was taken there, and a
//! metric compares two neighbouring instants, never anything in between. Resets, wraps, reboots and clock
//! steps are handled in [`counters`] and [`collect`], and nowhere else.

pub mod clocks;
pub mod collect;
pub mod counters;
pub mod coverage;
pub mod envelope;
pub mod grid;
pub mod rates;
pub mod recorded_times;
pub mod rhythm;
pub mod stretches;
pub mod summary;

use std::sync::Arc;

use crate::model::metric::Metric;
use grid::Grid;

/// One metric of many components at the instants of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What is measured.
    pub metric: &'static Metric,
    /// When. The value at an instant covers the step that ends there.
    pub grid: Grid,
    /// Of whom.
    pub components: Vec<Arc<str>>,
    /// The values: for each component in turn, one for each instant; NaN where there is none.
    pub values: Vec<f64>,
}

impl Table {
    /// A table without components.
    pub fn new(metric: &'static Metric, grid: Grid) -> Table {
        Table { metric, grid, components: Vec::new(), values: Vec::new() }
    }

    /// The values of one component over time.
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
