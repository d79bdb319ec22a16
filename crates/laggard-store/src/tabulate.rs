//! A metric of a dataset, on a time grid.
//! In: a dataset and what is wanted of it. Out: [`Table`]s. Always: where a host has both counters and rates of
//! a component, the counters speak.

use std::collections::{BTreeMap, HashSet};
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
    first: Timestamp,
    last: Timestamp,
    every: Span,
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
/// Samples of one component that an interval is guessed from.
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

    /// The longest interval at which something was recorded: no common grid can be finer. Nothing if there is
    /// no sample.
    pub fn every(&self) -> Option<Span> {
        self.segments().map(|t| t.every).max()
    }

    /// The times that are covered, in order; those less than `step` apart are one.
    pub fn stretches(&self, step: Span) -> Vec<Stretch> {
        let mut covered: Vec<Stretch> =
            self.segments().map(|t| Stretch { first: t.first, last: t.last }).collect();
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
            let counted_names: HashSet<Arc<str>> = counted.components.iter().cloned().collect();
            let rated = of_rates(&of_table(schema.rates().name), &query, &counted_names, &mut self.problems);
            table.extend(counted);
            table.extend(rated);
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
        if !segment.components()?.iter().any(|name| wanted(name)) {
            return Ok(None);
        }
        let every = interval(&segment);
        let wraps_at_32_bits = segment.origin()?.wraps_at_32_bits;
        Ok(Some(Timed { segment, first, last, every, wraps_at_32_bits }))
    }
}

fn speaks_of(segment: &Segment, table: &str) -> bool {
    segment.table.name == table || Schema::named(table).is_some_and(|t| t.rates().name == segment.table.name)
}

/// The interval of a segment: as it says, or the median distance of one component's samples.
pub fn interval(segment: &Segment) -> Span {
    let stated = segment.origin().ok().and_then(|origin| origin.every);
    stated.or_else(|| guessed_interval(segment)).unwrap_or(FALLBACK_EVERY)
}

fn guessed_interval(segment: &Segment) -> Option<Span> {
    let mut component: Option<Arc<str>> = None;
    let mut times: Vec<i64> = Vec::new();
    let wanted = Wanted { table: segment.table, columns: Some(Vec::new()) };
    let selection = Selection { tables: vec![wanted], ..Selection::default() };
    let guess = segment.scan(&selection, &mut |_, piece| {
        for (number, rows) in piece.runs() {
            let name = &piece.names()[number as usize];
            if component.get_or_insert_with(|| name.clone()) == name {
                times.extend_from_slice(&piece.time()[rows]);
            }
        }
        if times.len() < SAMPLES_TO_GUESS_FROM { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let _ = guess.ok()?;
    median_distance(times)
}

fn median_distance(mut times: Vec<i64>) -> Option<Span> {
    times.sort_unstable();
    times.dedup();
    let mut distances: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let middle = distances.len() / 2;
    (!distances.is_empty()).then(|| Span::from_micros(*distances.select_nth_unstable(middle).1))
}

fn of_counters(segments: &[&Timed], query: &Query, problems: &mut Vec<Problem>) -> Table {
    let wraps = segments.iter().any(|t| t.wraps_at_32_bits);
    let plan = Plan::new(query.metric, wraps);
    let Some(every) = segments.iter().map(|t| t.every).max() else {
        return Table::new(query.metric, query.grid);
    };
    let columns = positions(query.metric.table, plan.columns());
    let mut collector = Collector::new(plan, query.grid, every);
    let (mut absent, mut unknown) = (Vec::new(), Vec::new());
    scan(segments, query, &columns, collector.span(), problems, &mut |piece| {
        absent.resize(piece.len().max(absent.len()), ABSENT);
        unknown.resize(piece.len().max(unknown.len()), UPTIME_UNKNOWN);
        let values: Vec<&[u64]> =
            columns.iter().map(|&c| piece.counts(c).unwrap_or(&absent[..piece.len()])).collect();
        collector.feed(Rows {
            names: piece.names(),
            component: piece.component(),
            time: piece.time(),
            uptime: piece.uptime().unwrap_or(&unknown[..piece.len()]),
            columns: &values,
        });
    });
    collector.table()
}

fn of_rates(
    segments: &[&Timed],
    query: &Query,
    but: &HashSet<Arc<str>>,
    problems: &mut Vec<Problem>,
) -> Table {
    let Some(every) = segments.iter().map(|t| t.every).max() else {
        return Table::new(query.metric, query.grid);
    };
    let rates = segments[0].segment.table;
    let names: Vec<&str> = [query.metric.name].into_iter().chain(query.metric.weight).collect();
    let columns = positions(rates.name, &names);
    let mut collector = RateCollector::new(query.metric, query.grid, every);
    let span = collector.span();
    let wanted = |name: &str| (query.wanted)(name) && !but.contains(name);
    let query = Query { wanted: &wanted, ..*query };
    scan(segments, &query, &columns, span, problems, &mut |piece| {
        let Some(values) = piece.numbers(columns[0]) else { return };
        let operations = columns.get(1).and_then(|&c| piece.numbers(c));
        let (names, component, time) = (piece.names(), piece.component(), piece.time());
        collector.feed(RateRows { names, component, time, values, operations });
    });
    collector.table()
}

fn positions(table: &str, columns: &[&str]) -> Vec<usize> {
    let schema = Schema::named(table).expect("every metric's table is registered");
    columns.iter().filter_map(|c| schema.position(c)).collect()
}

fn scan(
    segments: &[&Timed],
    query: &Query,
    columns: &[usize],
    (from, to): (Timestamp, Timestamp),
    problems: &mut Vec<Problem>,
    feed: &mut dyn FnMut(&Piece),
) {
    let Some(first) = segments.first() else { return };
    let wanted = Wanted { table: first.segment.table, columns: Some(columns.to_vec()) };
    let (components, tables) = (Some(query.wanted), vec![wanted]);
    let selection = Selection { tables, components, from: Some(from), to: Some(to), ..Selection::default() };
    for Timed { segment, .. } in segments.iter().filter(|t| t.first <= to && from <= t.last) {
        let read = segment.scan(&selection, &mut |_, piece| {
            feed(&piece);
            ControlFlow::Continue(())
        });
        if let Err(error) = read
            && !error.is_absent()
        {
            problems.push(Problem { name: segment.name().to_string(), error });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_guessed_from_the_median() {
        let seconds = |s: &[i64]| s.iter().map(|s| s * 1_000_000).collect();
        assert_eq!(median_distance(seconds(&[0, 600, 1201, 1800, 9000])), Some(Span::from_seconds(600)));
        assert_eq!(median_distance(seconds(&[7])), None);
        assert_eq!(median_distance(seconds(&[])), None);
    }
}
