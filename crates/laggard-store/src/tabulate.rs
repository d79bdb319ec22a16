//! A metric of a dataset, on a time grid.
//! In: a dataset and what is wanted of it. Out: [`Table`]s. Always: where a host has both counters and rates of
//! a component, the counters speak, and rates where these have no value.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use laggard_core::model::metric::Metric;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::samples::{ABSENT, UPTIME_UNKNOWN};
use laggard_core::tables::Table;
use laggard_core::tables::collect::{Collector, Rows};
use laggard_core::tables::counters::Plan;
use laggard_core::tables::grid::Grid;
use laggard_core::tables::rates::{RateCollector, RateRows};
use laggard_core::tables::rhythm::Rhythm;

use crate::dataset::{Dataset, Listing};
use crate::error::{Problem, StoreError};
use crate::piece::Piece;
use crate::segment::Segment;
use crate::selection::{Predicate, Selection, Wanted};

/// Metrics of the components of a dataset, on any grid.
pub struct Tabulator<'a> {
    hosts: BTreeMap<String, Vec<Timed>>,
    wanted: Predicate<'a>,
    problems: Vec<Problem>,
}

/// A segment, with what is known about its times.
struct Timed {
    segment: Segment,
    components: BTreeSet<Arc<str>>,
    first: Timestamp,
    last: Timestamp,
    rhythm: Rhythm,
    wraps_at_32_bits: bool,
}

/// A time that some segment covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The first sample.
    pub first: Timestamp,
    /// The last sample.
    pub last: Timestamp,
}

/// Where a recording does not tell its interval and has too few samples to guess it from.
const FALLBACK_EVERY: Span = Span::SECOND;
/// Samples of one component that a rhythm is guessed from.
const SAMPLES_TO_GUESS_FROM: usize = 1000;

impl<'a> Tabulator<'a> {
    /// Looks at what a dataset has of these tables (or of the rates that stand in for them) and of the wanted
    /// components.
    pub fn new(
        dataset: &Dataset,
        tables: &[&str],
        wanted: Predicate<'a>,
    ) -> Result<Tabulator<'a>, StoreError> {
        let Listing { segments, problems } = dataset.segments()?;
        let mut tabulator = Tabulator { hosts: BTreeMap::new(), wanted, problems };
        for segment in segments.into_iter().filter(|s| tables.iter().any(|t| speaks_of(s, t))) {
            let name = segment.name().to_string();
            match Timed::new(segment, wanted) {
                Ok(timed) => timed.into_iter().for_each(|t| tabulator.add(t)),
                // Removed by the retention since it was listed.
                Err(error) if error.is_absent() => {}
                Err(error) => tabulator.problems.push(Problem { name, error }),
            }
        }
        Ok(tabulator)
    }

    fn add(&mut self, timed: Timed) {
        self.hosts.entry(timed.segment.host.clone()).or_default().push(timed);
    }

    /// What could not be read.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The shortest and the longest interval at which something was recorded, and a host that recorded at the
    /// longest. On a grid that is finer than a host's interval, that host has no values. Nothing if there is no
    /// sample.
    pub fn every(&self) -> Option<(Span, Span, &str)> {
        let shortest = self.segments().map(|t| t.rhythm.every).min()?;
        let slowest = self.segments().max_by_key(|t| t.rhythm.every)?;
        Some((shortest, slowest.rhythm.every, &slowest.segment.host))
    }

    /// How many components there are.
    pub fn components(&self) -> usize {
        self.segments().flat_map(|t| &t.components).collect::<BTreeSet<_>>().len()
    }

    /// The times that are covered, as the instants of their first and last sample, in order; those not more than
    /// `step` apart are one.
    pub fn stretches(&self, step: Span) -> Vec<Stretch> {
        let instant = |t: &Timed, time: Timestamp| t.rhythm.instant(time.micros());
        let stretch = |t: &Timed| Stretch { first: instant(t, t.first), last: instant(t, t.last) };
        let mut covered: Vec<Stretch> = self.segments().map(stretch).collect();
        covered.sort_by_key(|stretch| stretch.first);
        let mut stretches: Vec<Stretch> = Vec::new();
        for next in covered {
            match stretches.last_mut() {
                Some(before) if next.first - before.last <= step => before.last = before.last.max(next.last),
                _ => stretches.push(next),
            }
        }
        stretches
    }

    fn segments(&self) -> impl Iterator<Item = &Timed> {
        self.hosts.values().flatten()
    }

    /// A metric on a grid. Holds the readings of one host at a time.
    pub fn table(&mut self, metric: &'static Metric, grid: Grid) -> Table {
        let schema = Schema::named(metric.table).expect("every metric's table is registered");
        let query = Query { metric, grid, wanted: self.wanted };
        let mut table = Table::new(metric, grid);
        for segments in self.hosts.values() {
            let of_table =
                |t: &str| segments.iter().filter(|s| s.segment.table.name == t).collect::<Vec<_>>();
            let counted = of_counters(&of_table(schema.name), &query, &mut self.problems);
            let rated = of_rates(&of_table(schema.rates().name), &query, &mut self.problems);
            table.extend(completed(counted, rated));
        }
        table
    }
}

/// What is asked of the segments of a host.
#[derive(Clone, Copy)]
struct Query<'a> {
    metric: &'static Metric,
    grid: Grid,
    wanted: Predicate<'a>,
}

impl Timed {
    /// Nothing if the segment has no sample of a wanted component.
    fn new(segment: Segment, wanted: Predicate<'_>) -> Result<Option<Timed>, StoreError> {
        let Some((first, last)) = segment.times()? else { return Ok(None) };
        let mut components = segment.components()?;
        components.retain(|name| wanted(name));
        if components.is_empty() {
            return Ok(None);
        }
        let rhythm = rhythm(&segment)?;
        let wraps_at_32_bits = segment.origin()?.wraps_at_32_bits;
        Ok(Some(Timed { segment, components, first, last, rhythm, wraps_at_32_bits }))
    }
}

fn speaks_of(segment: &Segment, table: &str) -> bool {
    segment.table.name == table || Schema::named(table).is_some_and(|t| t.rates().name == segment.table.name)
}

/// The rhythm of a segment. A recorder's own samples are on the grid; those of others are looked at.
pub fn rhythm(segment: &Segment) -> Result<Rhythm, StoreError> {
    let origin = segment.origin()?;
    if let Some(every) = origin.every.filter(|_| origin.is_on_grid()) {
        return Ok(Rhythm::on_grid(every));
    }
    let guessed = Rhythm::of(&some_times(segment)?, origin.every);
    Ok(guessed.unwrap_or(Rhythm::on_grid(origin.every.unwrap_or(FALLBACK_EVERY))))
}

/// Times of one component's samples.
fn some_times(segment: &Segment) -> Result<Vec<i64>, StoreError> {
    let mut component: Option<Arc<str>> = None;
    let mut times: Vec<i64> = Vec::new();
    let wanted = Wanted { table: segment.table, columns: Some(Vec::new()) };
    let selection = Selection { tables: vec![wanted], ..Selection::default() };
    let _ = segment.scan(&selection, &mut |_, piece| {
        for (number, rows) in piece.runs() {
            let name = &piece.names()[number as usize];
            if component.get_or_insert_with(|| name.clone()) == name {
                times.extend_from_slice(&piece.time()[rows]);
            }
        }
        if times.len() < SAMPLES_TO_GUESS_FROM { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    times.truncate(SAMPLES_TO_GUESS_FROM);
    Ok(times)
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

fn of_counters(segments: &[&Timed], query: &Query, problems: &mut Vec<Problem>) -> Table {
    let wraps = segments.iter().any(|t| t.wraps_at_32_bits);
    let plan = Plan::new(query.metric, wraps);
    let columns = positions(query.metric.table, plan.columns());
    let mut collector = Collector::new(plan, query.grid);
    let (mut absent, mut unknown) = (Vec::new(), Vec::new());
    for timed in segments {
        scan(timed, query.wanted, &columns, collector.span(timed.rhythm), problems, &mut |piece| {
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
    collector.table()
}

fn of_rates(segments: &[&Timed], query: &Query, problems: &mut Vec<Problem>) -> Table {
    let rates =
        Schema::named(query.metric.table).map(Schema::rates).expect("every metric's table is registered");
    let names: Vec<&str> = [query.metric.name].into_iter().chain(query.metric.weight).collect();
    let columns = positions(rates.name, &names);
    let mut collector = RateCollector::new(query.metric, query.grid);
    for timed in segments {
        scan(timed, query.wanted, &columns, collector.span(timed.rhythm), problems, &mut |piece| {
            let Some(values) = piece.numbers(columns[0]) else { return };
            let operations = columns.get(1).and_then(|&c| piece.numbers(c));
            let (names, component, time) = (piece.names(), piece.component(), piece.time());
            collector.feed(RateRows { names, component, time, values, operations }, timed.rhythm);
        });
    }
    collector.table()
}

fn positions(table: &str, columns: &[&str]) -> Vec<usize> {
    let schema = Schema::named(table).expect("every metric's table is registered");
    columns.iter().filter_map(|c| schema.position(c)).collect()
}

fn scan(
    timed: &Timed,
    wanted: Predicate<'_>,
    columns: &[usize],
    (from, to): (Timestamp, Timestamp),
    problems: &mut Vec<Problem>,
    feed: &mut dyn FnMut(&Piece),
) {
    let Timed { segment, first, last, .. } = timed;
    if *first > to || *last < from {
        return;
    }
    let tables = vec![Wanted { table: segment.table, columns: Some(columns.to_vec()) }];
    let (from, to, components) = (Some(from), Some(to), Some(wanted));
    let selection = Selection { tables, components, from, to, ..Selection::default() };
    let read = segment.scan(&selection, &mut |_, piece| {
        feed(&piece);
        ControlFlow::Continue(())
    });
    let name = segment.name().to_string();
    match read {
        Err(error) if !error.is_absent() && problems.iter().all(|p| p.name != name) => {
            problems.push(Problem { name, error });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laggard_core::model::metric::Metric;

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
