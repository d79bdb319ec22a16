//! Imported recordings that hold only rates and averages, on a grid.
//!
//! A value covers the time since the previous sample. On a coarser grid, rates are weighted by time, and averages over
//! requests by the number of requests if the recording has it, otherwise by time. A step that is covered by less than half
//! has no value.

use std::collections::HashMap;
use std::sync::Arc;

use super::Table;
use super::grid::Grid;
use super::schedule::SamplingSchedule;
use crate::model::metric::Metric;
use crate::model::time::{Span, Timestamp};

pub struct RateCollector {
    metric: &'static Metric,
    grid: Grid,
    numbers: HashMap<Arc<str>, usize>,
    components: Vec<Rated>,
}

/// Rows with one metric.
#[derive(Clone, Copy, Debug)]
pub struct RateRows<'a> {
    pub names: &'a [Arc<str>],
    /// Indices into `names`.
    pub component: &'a [u32],
    /// Microseconds, UTC.
    pub time: &'a [i64],
    pub values: &'a [f64],
    /// The requests per second that it is an average of; NaN if not known.
    pub operations: Option<&'a [f64]>,
}

struct Rated {
    name: Arc<str>,
    cells: Vec<Cell>,
}

/// The samples of one step. Two samples at the same time both count: unlike counters, rates may be averaged.
#[derive(Clone, Copy, Default)]
struct Cell {
    samples: u32,
    with_operations: u32,
    covered_us: i64,
    sum: f64,
    operations: f64,
    weighed: f64,
}

impl RateCollector {
    pub fn new(metric: &'static Metric, grid: Grid) -> RateCollector {
        RateCollector { metric, grid, numbers: HashMap::new(), components: Vec::new() }
    }

    /// The first and last time of samples that matter.
    pub fn span(&self, schedule: SamplingSchedule) -> (Timestamp, Timestamp) {
        (self.grid.start - self.grid.step - schedule.every, self.grid.end() + schedule.every)
    }

    pub fn feed(&mut self, rows: RateRows, schedule: SamplingSchedule) {
        // Names without rows do not become components.
        let mut numbers: Vec<Option<usize>> = vec![None; rows.names.len()];
        for (row, &time) in rows.time.iter().enumerate() {
            let Some(cell) = self.cell(schedule.instant(time)) else { continue };
            let name = rows.component[row] as usize;
            let number = *numbers[name].get_or_insert_with(|| self.number(&rows.names[name]));
            let operations = rows.operations.map_or(f64::NAN, |o| o[row]);
            self.components[number].cells[cell].add(rows.values[row], operations, schedule.every);
        }
    }

    /// The step of an instant of the recording, which covers the time before it.
    fn cell(&self, instant: Timestamp) -> Option<usize> {
        let step = self.grid.step.micros();
        let after_start = (instant - self.grid.start).micros().saturating_add(step - 1).div_euclid(step);
        usize::try_from(after_start).ok().filter(|&cell| cell < self.grid.len)
    }

    fn number(&mut self, name: &Arc<str>) -> usize {
        let cells = self.grid.len;
        *self.numbers.entry(name.clone()).or_insert_with(|| {
            self.components.push(Rated { name: name.clone(), cells: vec![Cell::default(); cells] });
            self.components.len() - 1
        })
    }

    /// The components are in the order of their first row.
    pub fn table(&self) -> Table {
        let mut table = Table::new(self.metric, self.grid);
        for component in &self.components {
            table.components.push(component.name.clone());
            table.values.extend(component.cells.iter().map(|cell| cell.mean(self.metric, self.grid.step)));
        }
        table
    }
}

impl Cell {
    fn add(&mut self, value: f64, operations: f64, every: Span) {
        // Without requests there is no average, but the time was recorded.
        let value = if value.is_nan() && operations == 0.0 { 0.0 } else { value };
        if value.is_nan() {
            return;
        }
        self.samples += 1;
        self.covered_us = self.covered_us.saturating_add(every.micros());
        self.sum += value;
        if !operations.is_nan() {
            self.with_operations += 1;
            self.operations += operations;
            self.weighed += value * operations;
        }
    }

    fn mean(&self, metric: &Metric, step: Span) -> f64 {
        let is_weighable = metric.weight.is_some() && self.with_operations == self.samples;
        if self.samples == 0 || self.covered_us.saturating_mul(2) < step.micros() {
            f64::NAN
        } else if !is_weighable {
            self.sum / f64::from(self.samples)
        } else if self.operations == 0.0 {
            0.0
        } else {
            self.weighed / self.operations
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(metric: &str, step: i64, samples: &[(i64, f64, f64)]) -> Vec<f64> {
        let step = Span::from_seconds(step);
        let last = samples.last().map_or(0, |s| s.0);
        let grid = Grid::covering(Timestamp::from_micros(step.micros()), Timestamp::from_seconds(last), step);
        let mut collector = RateCollector::new(Metric::named(metric).unwrap(), grid);
        let (times, values): (Vec<i64>, Vec<f64>) = samples.iter().map(|s| (s.0 * 1_000_000, s.1)).unzip();
        let operations: Vec<f64> = samples.iter().map(|s| s.2).collect();
        let rows = RateRows {
            names: &["sda".into()],
            component: &vec![0; samples.len()],
            time: &times,
            values: &values,
            operations: Some(&operations),
        };
        collector.feed(rows, SamplingSchedule::on_grid(Span::SECOND));
        collector.table().values
    }

    #[test]
    fn rates_are_weighed_by_time_and_averages_by_requests() {
        let samples = [(1, 10.0, 1.0), (2, 40.0, 3.0)];
        assert_eq!(means("rd_sec", 2, &samples), [25.0]);
        assert_eq!(means("await", 2, &samples), [32.5]);
    }

    #[test]
    fn averages_with_unknown_requests_are_weighed_by_time() {
        assert_eq!(means("await", 2, &[(1, 10.0, f64::NAN), (2, 40.0, 3.0)]), [25.0]);
    }

    #[test]
    fn an_average_over_no_request_is_zero() {
        assert_eq!(means("await", 2, &[(1, 0.0, 0.0), (2, 0.0, 0.0)]), [0.0]);
    }

    #[test]
    fn a_step_needs_half_of_its_samples() {
        let values = means("rd_sec", 4, &[(1, 1.0, 1.0), (4, 3.0, 1.0), (8, 5.0, 1.0)]);
        assert_eq!(values[0], 2.0);
        assert!(values[1].is_nan());
    }
}
