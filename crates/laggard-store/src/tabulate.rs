//! A metric of a dataset, on a time grid.
//! In: a dataset and what is asked of it. Out: a [`Table`]. Always: where a host has both counters and rates of
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

/// What is asked of a dataset.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// The metric.
    pub metric: &'static Metric,
    /// The instants.
    pub grid: Grid,
    /// Which components.
    pub wanted: Predicate<'a>,
}

/// What a dataset answers.
#[derive(Debug)]
pub struct Tabulated {
    /// The metric of all components that were found.
    pub table: Table,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// The time that some tables of a dataset span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first sample.
    pub first: Timestamp,
    /// The last sample.
    pub last: Timestamp,
    /// The longest interval at which one of them was recorded: no common grid can be finer.
    pub every: Span,
}

/// Where a recording does not tell its interval and has too few samples to guess it from.
const FALLBACK_EVERY: Span = Span::SECOND;
/// Samples of one component that an interval is guessed from.
const SAMPLES_TO_GUESS_FROM: usize = 1000;

/// The extent of these tables, or of the rates that stand in for them; nothing if there is no sample.
pub fn extent(dataset: &Dataset, tables: &[&str]) -> Result<Option<Extent>, StoreError> {
    let mut extent: Option<Extent> = None;
    for segment in dataset.segments()?.segments.iter().filter(|s| tables.iter().any(|t| speaks_of(s, t))) {
        let Ok(Some((first, last))) = segment.times() else { continue };
        let every = interval(segment);
        let so_far = extent.unwrap_or(Extent { first, last, every });
        extent = Some(Extent {
            first: so_far.first.min(first),
            last: so_far.last.max(last),
            every: so_far.every.max(every),
        });
    }
    Ok(extent)
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
    guess.ok()?;
    median_distance(times)
}

fn median_distance(mut times: Vec<i64>) -> Option<Span> {
    times.sort_unstable();
    times.dedup();
    let mut distances: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let middle = distances.len() / 2;
    (!distances.is_empty()).then(|| Span::from_micros(*distances.select_nth_unstable(middle).1))
}

/// Answers a query: host by host, in memory for one host's grid and no more.
pub fn tabulate(dataset: &Dataset, query: &Query) -> Result<Tabulated, StoreError> {
    let Listing { segments, mut problems } = dataset.segments()?;
    let mut table = Table::new(query.metric, query.grid);
    for segments in by_host(segments).values() {
        let of_table = |t: &str| segments.iter().filter(|s| s.table.name == t).collect::<Vec<_>>();
        let schema = Schema::named(query.metric.table).expect("every metric's table is registered");
        let counted = of_counters(&of_table(schema.name), query, &mut problems);
        let counted_names: HashSet<Arc<str>> = counted.components.iter().cloned().collect();
        let rated = of_rates(&of_table(schema.rates().name), query, &counted_names, &mut problems);
        table.extend(counted);
        table.extend(rated);
    }
    Ok(Tabulated { table, problems })
}

fn by_host(segments: Vec<Segment>) -> BTreeMap<String, Vec<Segment>> {
    let mut hosts: BTreeMap<String, Vec<Segment>> = BTreeMap::new();
    for segment in segments {
        hosts.entry(segment.host.clone()).or_default().push(segment);
    }
    hosts
}

fn of_counters(segments: &[&Segment], query: &Query, problems: &mut Vec<Problem>) -> Table {
    let wraps = segments.iter().any(|s| s.origin().is_ok_and(|o| o.wraps_at_32_bits));
    let plan = Plan::new(query.metric, wraps);
    let Some(every) = segments.iter().map(|s| interval(s)).max() else {
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
    segments: &[&Segment],
    query: &Query,
    but: &HashSet<Arc<str>>,
    problems: &mut Vec<Problem>,
) -> Table {
    let Some(every) = segments.iter().map(|s| interval(s)).max() else {
        return Table::new(query.metric, query.grid);
    };
    let rates = segments[0].table;
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
    segments: &[&Segment],
    query: &Query,
    columns: &[usize],
    (from, to): (Timestamp, Timestamp),
    problems: &mut Vec<Problem>,
    feed: &mut dyn FnMut(&Piece),
) {
    let Some(first) = segments.first() else { return };
    let wanted = Wanted { table: first.table, columns: Some(columns.to_vec()) };
    let (components, tables) = (Some(query.wanted), vec![wanted]);
    let selection = Selection { tables, components, from: Some(from), to: Some(to), ..Selection::default() };
    for segment in segments {
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
