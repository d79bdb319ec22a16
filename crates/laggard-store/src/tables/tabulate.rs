//! Metrics of a dataset, on a time grid.
//! In: a dataset and the wanted components. Out: [`Table`]s. Always: where a host has both counters and rates of
//! a component, rates are used only where the counters have no value.

use std::collections::{BTreeMap, BTreeSet};

use laggard_core::model::metric::Metric;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::Table;
use laggard_core::tables::grid::Grid;
use laggard_core::tables::stretches::{Stretch, joined};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use crate::dataset::segment::Segment;
use crate::dataset::{Dataset, Listing};
use crate::error::{Problem, StoreError};
use crate::reading::selection::Predicate;
use crate::tables::query::{HostTables, Query};
use crate::tables::timed_segment::TimedSegment;

pub use crate::tables::timed_segment::rhythm;

/// Metrics of the components of a dataset, on any grid.
pub struct Tabulator<'a> {
    hosts: BTreeMap<String, Vec<TimedSegment>>,
    wanted: Predicate<'a>,
    problems: Vec<Problem>,
}

impl<'a> Tabulator<'a> {
    /// Lists the segments of a dataset that have these tables (or their rates) of the wanted components.
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
            .map(|segment| (segment.name().to_string(), TimedSegment::new(segment, wanted)))
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

    fn add(&mut self, timed: TimedSegment) {
        self.hosts.entry(timed.segment.host.clone()).or_default().push(timed);
    }

    /// Files that could not be read.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

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

    /// The number of components.
    pub fn components(&self) -> usize {
        self.segments().flat_map(|t| &t.components).collect::<BTreeSet<_>>().len()
    }

    /// The covered periods, from the instant of their first sample to that of their last, in order; periods at most
    /// `step` apart are joined.
    pub fn stretches(&self, step: Span) -> Vec<Stretch> {
        joined(self.covered().map(|(_, stretch)| stretch), step)
    }

    /// The segments, and the period that each covers.
    pub fn covered(&self) -> impl Iterator<Item = (&Segment, Stretch)> {
        let instant = |t: &TimedSegment, time: Timestamp| t.rhythm.instant(time.micros());
        let stretch =
            move |t: &TimedSegment| Stretch { first: instant(t, t.first), last: instant(t, t.last) };
        self.segments().map(move |t| (&t.segment, stretch(t)))
    }

    fn segments(&self) -> impl Iterator<Item = &TimedSegment> {
        self.hosts.values().flatten()
    }

    /// A metric on a grid.
    pub fn table(&mut self, metric: &'static Metric, grid: Grid) -> Table {
        self.tables(&[metric], grid).swap_remove(0)
    }

    /// Some metrics on a grid, from one pass over the files. Hosts are read in parallel; each thread holds the
    /// readings of one host.
    pub fn tables(&mut self, metrics: &[&'static Metric], grid: Grid) -> Vec<Table> {
        let query = Query { metrics, grid, wanted: self.wanted };
        let hosts: Vec<&[TimedSegment]> = self.hosts.values().map(Vec::as_slice).collect();
        let of_hosts: Vec<HostTables> = hosts.into_par_iter().map(|segments| query.ask(segments)).collect();
        let mut tables: Vec<Table> = metrics.iter().map(|metric| Table::new(metric, grid)).collect();
        for (number, table) in tables.iter_mut().enumerate() {
            table.values.reserve(of_hosts.iter().map(|of_hosts| of_hosts.tables[number].values.len()).sum());
        }
        for HostTables { tables: of_host, problems } in of_hosts {
            tables.iter_mut().zip(of_host).for_each(|(table, part)| table.extend(part));
            self.note(problems);
        }
        tables
    }

    /// Each file is reported once.
    fn note(&mut self, problems: Vec<Problem>) {
        for problem in problems {
            if self.problems.iter().all(|known| known.name != problem.name) {
                self.problems.push(problem);
            }
        }
    }
}

fn speaks_of(segment: &Segment, table: &str) -> bool {
    segment.table.name == table || Schema::named(table).is_some_and(|t| t.rates().name == segment.table.name)
}
