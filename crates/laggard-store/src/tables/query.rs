//! Metrics of one host, from its segments.
//! In: segments and a [`Query`]. Out: a [`Table`] for each metric. Always: each segment is read once, and only the
//! columns that some metric needs.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use laggard_core::model::metric::Metric;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;
use laggard_core::samples::{ABSENT, UPTIME_UNKNOWN};
use laggard_core::tables::Table;
use laggard_core::tables::collect::{Collector, Rows};
use laggard_core::tables::counters::Plan;
use laggard_core::tables::grid::Grid;
use laggard_core::tables::rates::{RateCollector, RateRows};

use crate::error::Problem;
use crate::reading::piece::Piece;
use crate::reading::selection::{Predicate, Selection, Wanted};
use crate::tables::timed_segment::TimedSegment;

/// Metrics on a grid, of the wanted components.
#[derive(Clone, Copy)]
pub(crate) struct Query<'a> {
    pub(crate) metrics: &'a [&'static Metric],
    pub(crate) grid: Grid,
    pub(crate) wanted: Predicate<'a>,
}

/// The metrics of one host.
pub(crate) struct HostTables {
    /// In the order of the metrics.
    pub(crate) tables: Vec<Table>,
    pub(crate) problems: Vec<Problem>,
}

impl Query<'_> {
    pub(crate) fn ask(&self, segments: &[Arc<TimedSegment>]) -> HostTables {
        let mut tables: Vec<Table> = self.metrics.iter().map(|m| Table::new(m, self.grid)).collect();
        let mut problems = Vec::new();
        for schema in self.schemas() {
            let (places, metrics): (Vec<usize>, Vec<&'static Metric>) =
                self.metrics.iter().copied().enumerate().filter(|(_, m)| m.table == schema.name).unzip();
            let of_table = |t: &str| {
                segments.iter().map(Arc::as_ref).filter(|s| s.segment.table.name == t).collect::<Vec<_>>()
            };
            let counted = self.of_counters(&metrics, schema, &of_table(schema.name), &mut problems);
            let rated =
                self.of_rates(&metrics, schema.rates(), &of_table(schema.rates().name), &mut problems);
            for (place, (counted, rated)) in places.into_iter().zip(counted.into_iter().zip(rated)) {
                tables[place] = completed(counted, rated);
            }
        }
        HostTables { tables, problems }
    }

    /// The tables of the metrics, each once.
    fn schemas(&self) -> Vec<&'static Schema> {
        let mut names: Vec<&str> = self.metrics.iter().map(|metric| metric.table).collect();
        names.sort_unstable();
        names.dedup();
        let schema = |name| Schema::named(name).expect("every metric's table is registered");
        names.into_iter().map(schema).collect()
    }

    fn of_counters(
        &self,
        metrics: &[&'static Metric],
        schema: &'static Schema,
        segments: &[&TimedSegment],
        problems: &mut Vec<Problem>,
    ) -> Vec<Table> {
        let wraps = segments.iter().any(|timed| timed.wraps_at_32_bits);
        let plans = metrics.iter().map(|metric| Plan::new(metric, wraps)).collect();
        let mut collector = Collector::new(plans, self.grid);
        let columns: Vec<usize> = collector.columns().iter().filter_map(|c| schema.position(c)).collect();
        let (mut absent, mut unknown) = (Vec::new(), Vec::new());
        for timed in segments {
            self.scan(timed, &columns, collector.span(timed.rhythm), problems, &mut |piece| {
                absent.resize(piece.len().max(absent.len()), ABSENT);
                unknown.resize(piece.len().max(unknown.len()), UPTIME_UNKNOWN);
                let values: Vec<&[u64]> =
                    columns.iter().map(|&c| piece.counts(c).unwrap_or(&absent[..piece.len()])).collect();
                let rows = Rows {
                    names: piece.names(),
                    component: piece.component(),
                    time: piece.time(),
                    uptime: piece.uptime().unwrap_or(&unknown[..piece.len()]),
                    columns: &values,
                };
                collector.feed(rows, timed.rhythm);
            });
        }
        collector.tables()
    }

    fn of_rates(
        &self,
        metrics: &[&'static Metric],
        schema: &'static Schema,
        segments: &[&TimedSegment],
        problems: &mut Vec<Problem>,
    ) -> Vec<Table> {
        let mut collectors: Vec<Rates> = metrics.iter().map(|m| Rates::new(m, schema, self.grid)).collect();
        let columns: Vec<usize> = collectors.iter().flat_map(Rates::columns).collect();
        for timed in segments {
            let Some(span) = collectors.first().map(|rates| rates.collector.span(timed.rhythm)) else {
                break;
            };
            self.scan(timed, &columns, span, problems, &mut |piece| {
                collectors.iter_mut().for_each(|rates| rates.feed(piece, timed));
            });
        }
        collectors.iter().map(|rates| rates.collector.table()).collect()
    }

    fn scan(
        &self,
        timed: &TimedSegment,
        columns: &[usize],
        (from, to): (Timestamp, Timestamp),
        problems: &mut Vec<Problem>,
        feed: &mut dyn FnMut(&Piece),
    ) {
        let TimedSegment { segment, first, last, is_all_wanted, .. } = timed;
        if *first > to || *last < from {
            return;
        }
        let tables = vec![Wanted { table: segment.table, columns: Some(columns.to_vec()) }];
        // Skipping rows requires reading the components first.
        let components = (!is_all_wanted).then_some(self.wanted);
        let selection =
            Selection { tables, components, from: Some(from), to: Some(to), ..Selection::default() };
        let read = segment.scan(&selection, &mut |_, piece| {
            feed(&piece);
            ControlFlow::Continue(())
        });
        match read {
            Err(error) if !error.is_absent() => {
                problems.push(Problem { name: segment.name().to_string(), error });
            }
            _ => {}
        }
    }
}

/// One metric that was recorded as a rate, and the columns that hold it.
struct Rates {
    collector: RateCollector,
    values: Option<usize>,
    operations: Option<usize>,
}

impl Rates {
    fn new(metric: &'static Metric, schema: &Schema, grid: Grid) -> Rates {
        let operations = metric.weight.and_then(|weight| schema.position(weight.name()));
        let collector = RateCollector::new(metric, grid);
        Rates { collector, values: schema.position(metric.name), operations }
    }

    fn columns(&self) -> impl Iterator<Item = usize> + use<> {
        self.values.into_iter().chain(self.operations)
    }

    fn feed(&mut self, piece: &Piece, timed: &TimedSegment) {
        let Some(values) = self.values.and_then(|column| piece.numbers(column)) else { return };
        let operations = self.operations.and_then(|column| piece.numbers(column));
        let (names, component, time) = (piece.names(), piece.component(), piece.time());
        self.collector.feed(RateRows { names, component, time, values, operations }, timed.rhythm);
    }
}

/// The counted values, and where there is none, the rated ones.
fn completed(mut counted: Table, rated: Table) -> Table {
    let known: HashMap<Arc<str>, usize> =
        counted.components.iter().enumerate().map(|(number, name)| (name.clone(), number)).collect();
    for (number, name) in rated.components.iter().enumerate() {
        let Some(&at) = known.get(name) else {
            counted.components.push(name.clone());
            counted.values.extend_from_slice(rated.row(number));
            continue;
        };
        let len = counted.grid.len;
        for (mine, other) in counted.values[at * len..][..len].iter_mut().zip(rated.row(number)) {
            if mine.is_nan() {
                *mine = *other;
            }
        }
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use laggard_core::model::time::Span;

    fn table(names: &[&str], values: &[f64]) -> Table {
        let start = Timestamp::from_seconds(0);
        let grid = Grid { start, step: Span::SECOND, len: values.len() / names.len().max(1) };
        let components = names.iter().map(|&name| name.into()).collect();
        Table { metric: Metric::named("await").unwrap(), grid, components, values: values.to_vec() }
    }

    #[test]
    fn rates_stand_in_where_counters_have_no_value() {
        let counted = table(&["a"], &[1.0, f64::NAN]);
        let rated = table(&["b", "a"], &[5.0, 6.0, 7.0, 8.0]);
        let both = completed(counted, rated);
        assert_eq!(both.components, ["a".into(), "b".into()]);
        assert_eq!(both.values, [1.0, 8.0, 5.0, 6.0]);
    }
}
