//! Foreign recordings that hold only rates and averages, brought onto a grid.
//!
//! A value covers the time from the sample before to its own. On a coarser grid rates are weighed by time, and
//! averages over requests by the number of requests where the recording has it, else by time. A step of which
//! less than half is covered has no value.

use std::collections::HashMap;
use std::sync::Arc;

use super::Table;
use super::grid::Grid;
use crate::model::metric::Metric;
use crate::model::time::{Span, Timestamp};

/// Rates of one metric, gathered to be put on a grid.
pub struct RateCollector {
    metric: &'static Metric,
    grid: Grid,
    /// The instants at which the recording was made. Two samples for one of them: the last wins.
    recorded: Grid,
    numbers: HashMap<Arc<str>, usize>,
    components: Vec<Rated>,
}

/// Rows with one metric, as a store or a source hands them over.
#[derive(Clone, Copy, Debug)]
pub struct RateRows<'a> {
    /// The components that `component` counts.
    pub names: &'a [Arc<str>],
    /// Whom each row speaks of.
    pub component: &'a [u32],
    /// Microseconds, UTC.
    pub time: &'a [i64],
    /// The metric.
    pub values: &'a [f64],
    /// How many requests per second it is an average of, NaN where that is not known; or nothing at all.
    pub operations: Option<&'a [f64]>,
}

struct Rated {
    name: Arc<str>,
    values: Vec<f64>,
    operations: Vec<f64>,
}

impl RateCollector {
    /// For a metric on a grid, from values that were recorded `every` so often.
    pub fn new(metric: &'static Metric, grid: Grid, every: Span) -> RateCollector {
        let recorded = Grid::covering(grid.start - grid.step, grid.end() + every, every);
        RateCollector { metric, grid, recorded, numbers: HashMap::new(), components: Vec::new() }
    }

    /// The times at which samples matter.
    pub fn span(&self) -> (Timestamp, Timestamp) {
        (self.recorded.start - self.recorded.step, self.recorded.end() + self.recorded.step)
    }

    /// Takes rows, in the order of recording.
    pub fn feed(&mut self, rows: RateRows) {
        // Names that no row speaks of make no component.
        let mut numbers: Vec<Option<usize>> = vec![None; rows.names.len()];
        for (row, &time) in rows.time.iter().enumerate() {
            if let Some(slot) = self.slot(time) {
                let name = rows.component[row] as usize;
                let number = *numbers[name].get_or_insert_with(|| self.number(&rows.names[name]));
                let component = &mut self.components[number];
                component.values[slot] = rows.values[row];
                component.operations[slot] = rows.operations.map_or(f64::NAN, |o| o[row]);
            }
        }
    }

    fn slot(&self, time: i64) -> Option<usize> {
        let into = Timestamp::from_micros(time).nearest(self.recorded.step) - self.recorded.start;
        usize::try_from(into.micros() / self.recorded.step.micros())
            .ok()
            .filter(|&slot| slot < self.recorded.len)
    }

    fn number(&mut self, name: &Arc<str>) -> usize {
        let slots = self.recorded.len;
        *self.numbers.entry(name.clone()).or_insert_with(|| {
            let (values, operations) = (vec![f64::NAN; slots], vec![f64::NAN; slots]);
            self.components.push(Rated { name: name.clone(), values, operations });
            self.components.len() - 1
        })
    }

    /// The metric at every instant, for every component that was met, in the order of meeting.
    pub fn table(&self) -> Table {
        let mut table = Table::new(self.metric, self.grid);
        for component in &self.components {
            table.components.push(component.name.clone());
            table.values.extend(self.grid.instants().map(|instant| self.mean(component, instant)));
        }
        table
    }

    /// The mean over the step that ends at `instant`.
    fn mean(&self, component: &Rated, instant: Timestamp) -> f64 {
        let slots = self.slots_until(instant - self.grid.step)..self.slots_until(instant);
        let within = || slots.clone().filter(|&slot| !component.values[slot].is_nan());
        if self.recorded.step * 2 * (within().count() as i64) < self.grid.step {
            return f64::NAN;
        }
        let weighable =
            self.metric.weight.is_some() && within().all(|slot| !component.operations[slot].is_nan());
        let weight = |slot: usize| if weighable { component.operations[slot] } else { 1.0 };
        let total: f64 = within().map(weight).sum();
        let weighed: f64 = within().map(|slot| component.values[slot] * weight(slot)).sum();
        if total == 0.0 { 0.0 } else { weighed / total }
    }

    /// How many slots there are up to an instant.
    fn slots_until(&self, instant: Timestamp) -> usize {
        let slots = (instant - self.recorded.start).micros() / self.recorded.step.micros() + 1;
        usize::try_from(slots).unwrap_or(0).min(self.recorded.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(metric: &str, step: i64, samples: &[(i64, f64, f64)]) -> Vec<f64> {
        let step = Span::from_seconds(step);
        let last = samples.last().map_or(0, |s| s.0);
        let grid = Grid::covering(Timestamp::from_micros(step.micros()), Timestamp::from_seconds(last), step);
        let mut collector = RateCollector::new(Metric::named(metric).unwrap(), grid, Span::SECOND);
        let (times, values): (Vec<i64>, Vec<f64>) = samples.iter().map(|s| (s.0 * 1_000_000, s.1)).unzip();
        let operations: Vec<f64> = samples.iter().map(|s| s.2).collect();
        collector.feed(RateRows {
            names: &["sda".into()],
            component: &vec![0; samples.len()],
            time: &times,
            values: &values,
            operations: Some(&operations),
        });
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
