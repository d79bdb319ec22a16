//! A recording with one slower disk, computed from its tables as they are read.

use std::ops::ControlFlow;

use laggard_core::model::cluster::Inventory;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::Span;
use laggard_core::recording::{ReadError, Recording, Visitor};
use laggard_core::suspects::feedback::Feedback;
use laggard_core::tables::Table;
use laggard_core::tables::recorded_times::RecordedTimes;

use super::active_disks::ACTIVITY;
use super::slowdown::{Load, Slowdown};

/// A recording in which the disk of the recorded name `component` is slower.
pub struct SlowedRecording<'a> {
    pub inner: &'a mut dyn Recording,
    pub component: &'a str,
    pub slowdown: Slowdown,
}

/// Some metrics, then those that slowdowns and active disks are computed from.
pub fn with_load(metrics: &[&'static Metric]) -> Vec<&'static Metric> {
    let mut all = metrics.to_vec();
    for metric in ACTIVITY.into_iter().chain([MetricId::Util]).map(MetricId::metric) {
        if !all.contains(&metric) {
            all.push(metric);
        }
    }
    all
}

impl Recording for SlowedRecording<'_> {
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
        let (component, slowdown) = (self.component, self.slowdown);
        self.inner.visit(&with_load(metrics), step, &mut |tables, done| {
            let (wanted, _) = tables.split_at(metrics.len());
            if is_affected(wanted, &slowdown) {
                visitor(&slowed(wanted, tables, component, &slowdown), done)
            } else {
                visitor(wanted, done)
            }
        })
    }
}

fn is_affected(tables: &[Table], slowdown: &Slowdown) -> bool {
    let overlaps = |table: &Table| {
        table.grid.start - table.grid.step < slowdown.end && table.grid.end() > slowdown.begin
    };
    tables.first().is_some_and(overlaps)
}

/// The wanted tables with a slower disk; `all` tables have its load.
fn slowed(wanted: &[Table], all: &[Table], component: &str, slowdown: &Slowdown) -> Vec<Table> {
    let row = |table: &Table| table.components.iter().position(|name| **name == *component);
    let values = |metric: MetricId| {
        let table = all.iter().find(|table| table.metric.id == metric)?;
        Some(table.row(row(table)?))
    };
    let (requests, busy) = (values(MetricId::Tps), values(MetricId::Util));
    let mut tables = wanted.to_vec();
    for table in tables.iter_mut().filter(|table| table.metric.table == "disk") {
        let Some(row) = row(table) else { continue };
        let (grid, metric) = (table.grid, table.metric.id);
        for (number, value) in table.values[row * grid.len..][..grid.len].iter_mut().enumerate() {
            let at = |values: Option<&[f64]>| values.map_or(f64::NAN, |values| values[number]);
            let load = Load { requests_per_second: at(requests), busy_percent: at(busy) };
            let to = grid.instant(number);
            let effect = slowdown.effect(to - grid.step, to, load.requests_per_second);
            *value = effect.on(metric, *value, load);
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use laggard_core::model::time::Timestamp;
    use laggard_core::tables::grid::Grid;

    use super::*;
    use laggard_core::diagnosis::detection_limit::Pattern;

    fn table(metric: MetricId, value: f64) -> Table {
        let (time, step) = (Timestamp::from_seconds, Span::from_seconds(60));
        let grid = Grid::covering(time(60), time(240), step);
        let mut table = Table::new(metric.metric(), grid);
        table.components = vec!["a".into(), "b".into()];
        table.values = vec![value; 2 * grid.len];
        table
    }

    #[test]
    fn only_the_latency_of_one_disk_changes() {
        let time = Timestamp::from_seconds;
        let fault = Slowdown { pattern: Pattern::Constant, magnitude: 2.0, begin: time(60), end: time(180) };
        let tables = [table(MetricId::Await, 4.0), table(MetricId::Tps, 9.0)];
        let slow = slowed(&tables, &tables, "b", &fault);
        assert_eq!(slow[0].row(0), [4.0; 4]);
        assert_eq!(slow[0].row(1), [4.0, 8.0, 8.0, 4.0]);
        assert_eq!(slow[1], tables[1]);
    }
}
