//! A slowdown of recorded rates and averages.
//! In: rows of the table `disk_rates`, in the order of recording. Out: the same rows with other latencies. Always: a
//! value covers the time since the row before it.

use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::samples::{Columns, RawTable};

use super::slowdown::{Load, Slowdown};

/// Slows one disk down, row by row.
pub(super) struct SlowRates {
    component: String,
    slowdown: Slowdown,
    /// The metrics of the columns.
    metrics: Vec<MetricId>,
    previous: Option<Timestamp>,
}

impl SlowRates {
    pub(super) fn new(component: &str, slowdown: Slowdown) -> SlowRates {
        let schema = Schema::named("disk").expect("the table disk is registered").rates();
        let metric = |name| Metric::named(name).expect("rates have a column for each metric").id;
        let metrics = schema.columns.iter().map(|column| metric(column.name)).collect();
        SlowRates { component: component.to_owned(), slowdown, metrics, previous: None }
    }

    /// Changes the next rows of a recording with samples every `every`.
    pub(super) fn apply(&mut self, rows: &mut RawTable, every: Option<Span>) {
        let Some(number) = rows.names().iter().position(|name| **name == *self.component) else { return };
        let Columns::Numbers(columns) = &mut rows.columns else { return };
        for (row, &component) in rows.component.iter().enumerate() {
            if component as usize != number {
                continue;
            }
            let to = Timestamp::from_micros(rows.time[row]);
            let before = self.previous.filter(|before| *before < to);
            let interval = before.map(|before| to - before).into_iter().chain(every).min();
            self.previous = Some(to);
            let value = |metric: MetricId| {
                let place = self.metrics.iter().position(|id| *id == metric);
                place.map_or(f64::NAN, |place| columns[place][row])
            };
            let load =
                Load { requests_per_second: value(MetricId::Tps), busy_percent: value(MetricId::Util) };
            let from = to - interval.unwrap_or(Span::SECOND);
            let effect = self.slowdown.effect(from, to, load.requests_per_second);
            for (column, &metric) in columns.iter_mut().zip(&self.metrics) {
                column[row] = effect.on(metric, column[row], load);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laggard_core::diagnosis::detection_limit::Pattern;

    fn rows() -> RawTable {
        let schema = Schema::named("disk").unwrap().rates();
        let mut table = RawTable::new(schema);
        for minute in 1..=4 {
            for name in ["st1:sda", "st1:sdb"] {
                let number = table.number(name);
                let mut values = vec![f64::NAN; schema.columns.len()];
                for (metric, value) in [("await", 5.0), ("tps", 40.0), ("%util", 20.0), ("svctm", 5.0)] {
                    values[schema.position(metric).unwrap()] = value;
                }
                table.push_numbers(Timestamp::from_seconds(60 * minute), None, number, &values);
            }
        }
        table
    }

    fn column(table: &RawTable, name: &str, component: u32) -> Vec<f64> {
        let values = table.numbers(table.schema().position(name).unwrap()).unwrap();
        (0..table.len()).filter(|&row| table.component[row] == component).map(|row| values[row]).collect()
    }

    #[test]
    fn recorded_averages_are_multiplied() {
        let time = Timestamp::from_seconds;
        let fault = Slowdown { pattern: Pattern::Constant, magnitude: 3.0, begin: time(60), end: time(150) };
        let mut slow = rows();
        SlowRates::new("st1:sda", fault).apply(&mut slow, Some(Span::from_seconds(60)));
        assert_eq!(column(&slow, "await", 0), [5.0, 15.0, 10.0, 5.0]);
        assert_eq!(column(&slow, "%util", 0), [20.0, 60.0, 40.0, 20.0]);
        assert_eq!(column(&slow, "svctm", 0), [5.0, 15.0, 10.0, 5.0]);
        assert_eq!(column(&slow, "tps", 0), [40.0; 4]);
        assert_eq!(column(&slow, "await", 1), [5.0; 4]);
        assert!(column(&slow, "r_await", 0).iter().all(|value| value.is_nan()));
    }
}
