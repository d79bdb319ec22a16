//! A metric of a dataset, on a time grid.
//! In: a dataset and what is wanted of it. Out: [`Table`]s. Always: where a host has both counters and rates of
//! a component, the counters speak, and rates where these have no value.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use laggard_core::model::metric::Metric;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::Table;
use laggard_core::tables::grid::Grid;
use laggard_core::tables::rhythm::Rhythm;
use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use crate::dataset::segment::Segment;
use crate::dataset::{Dataset, Listing};
use crate::error::{Problem, StoreError};
use crate::format::file_name::State;
use crate::reading::selection::{Predicate, Selection, Wanted};
use crate::tables::grids::joined;
use crate::tables::query::{Query, Told};

/// Metrics of the components of a dataset, on any grid.
pub struct Tabulator<'a> {
    hosts: BTreeMap<String, Vec<Timed>>,
    wanted: Predicate<'a>,
    problems: Vec<Problem>,
}

/// A segment, with what is known about it.
pub(crate) struct Timed {
    pub(crate) segment: Segment,
    /// The wanted components.
    components: BTreeSet<Arc<str>>,
    /// Whether it has no others.
    pub(crate) is_all_wanted: bool,
    pub(crate) first: Timestamp,
    pub(crate) last: Timestamp,
    pub(crate) rhythm: Rhythm,
    pub(crate) wraps_at_32_bits: bool,
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
        let asked: Vec<Segment> =
            segments.into_iter().filter(|s| tables.iter().any(|t| speaks_of(s, t))).collect();
        let looked_at: Vec<_> = asked
            .into_par_iter()
            .map(|segment| (segment.name().to_string(), Timed::new(segment, wanted)))
            .collect();
        for (name, timed) in looked_at {
            match timed {
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

    /// What could not be read, at the end.
    pub fn into_problems(self) -> Vec<Problem> {
        self.problems
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
        joined(self.covered().map(|(_, stretch)| stretch), step)
    }

    /// Which segments there are, and which times they cover.
    pub fn covered(&self) -> impl Iterator<Item = (&Segment, Stretch)> {
        let instant = |t: &Timed, time: Timestamp| t.rhythm.instant(time.micros());
        let stretch = move |t: &Timed| Stretch { first: instant(t, t.first), last: instant(t, t.last) };
        self.segments().map(move |t| (&t.segment, stretch(t)))
    }

    fn segments(&self) -> impl Iterator<Item = &Timed> {
        self.hosts.values().flatten()
    }

    /// A metric on a grid.
    pub fn table(&mut self, metric: &'static Metric, grid: Grid) -> Table {
        self.tables(&[metric], grid).swap_remove(0)
    }

    /// Some metrics on a grid, from one pass over the files. Hosts are read side by side; each thread holds the
    /// readings of one at a time.
    pub fn tables(&mut self, metrics: &[&'static Metric], grid: Grid) -> Vec<Table> {
        let query = Query { metrics, grid, wanted: self.wanted };
        let hosts: Vec<&[Timed]> = self.hosts.values().map(Vec::as_slice).collect();
        let told: Vec<Told> = hosts.into_par_iter().map(|segments| query.ask(segments)).collect();
        let mut tables: Vec<Table> = metrics.iter().map(|metric| Table::new(metric, grid)).collect();
        for (number, table) in tables.iter_mut().enumerate() {
            table.values.reserve(told.iter().map(|told| told.tables[number].values.len()).sum());
        }
        for Told { tables: of_host, problems } in told {
            tables.iter_mut().zip(of_host).for_each(|(table, part)| table.extend(part));
            self.note(problems);
        }
        tables
    }

    /// Each file is complained about once.
    fn note(&mut self, problems: Vec<Problem>) {
        for problem in problems {
            if self.problems.iter().all(|known| known.name != problem.name) {
                self.problems.push(problem);
            }
        }
    }
}

impl Timed {
    /// Nothing if the segment has no sample of a wanted component.
    fn new(segment: Segment, wanted: Predicate<'_>) -> Result<Option<Timed>, StoreError> {
        let Some((first, last)) = segment.times()? else { return Ok(None) };
        let mut components = segment.components()?;
        let all = components.len();
        components.retain(|name| wanted(name));
        // A live tail may have more by the time it is read.
        let is_all_wanted = components.len() == all && segment.state == State::Sealed;
        if components.is_empty() {
            return Ok(None);
        }
        let rhythm = rhythm(&segment)?;
        let wraps_at_32_bits = segment.origin()?.wraps_at_32_bits;
        Ok(Some(Timed { segment, components, is_all_wanted, first, last, rhythm, wraps_at_32_bits }))
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
