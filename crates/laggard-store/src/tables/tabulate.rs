//! Metrics of a dataset, on a time grid.
//! In: a dataset and the wanted components. Out: [`Table`]s. Always: where a host has both counters and rates of
//! a component, rates are used only where the counters have no value.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Once};

use laggard_core::model::metric::Metric;
use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::Table;
use laggard_core::tables::covered_times::{CoveredTime, joined};
use laggard_core::tables::grid::Grid;
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::dataset::Dataset;
use crate::dataset::segment::Segment;
use crate::error::{Problem, StoreError};
use crate::reading::selection::Predicate;
use crate::tables::query::{HostTables, Query};
use crate::tables::timed_segment::{TimedSegment, overviews};

pub use crate::tables::timed_segment::rhythm;

/// Metrics of the components of a dataset, on any grid.
pub struct Tabulator<'a> {
    hosts: BTreeMap<String, Vec<Arc<TimedSegment>>>,
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
        let (overviews, problems) = overviews(dataset, |segment| has_any(segment, tables))?;
        let timed = overviews
            .into_iter()
            .filter_map(|(segment, o)| TimedSegment::new(segment, o, wanted))
            .map(Arc::new);
        Ok(Tabulator { problems, ..Tabulator::of(timed, wanted) })
    }

    /// The metrics of segments that are listed already.
    pub(crate) fn of(
        segments: impl Iterator<Item = Arc<TimedSegment>>,
        wanted: Predicate<'a>,
    ) -> Tabulator<'a> {
        let mut hosts: BTreeMap<String, Vec<Arc<TimedSegment>>> = BTreeMap::new();
        for timed in segments {
            hosts.entry(timed.segment.host.clone()).or_default().push(timed);
        }
        Tabulator { hosts, wanted, problems: Vec::new() }
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

    /// The number of values of some metrics at an instant.
    pub(crate) fn values(&self, metrics: &[&'static Metric]) -> usize {
        let of_metric = |metric: &&Metric| {
            let segments = self.segments().filter(|t| has_any(&t.segment, &[metric.table]));
            segments.flat_map(|t| &t.components).collect::<BTreeSet<_>>().len()
        };
        metrics.iter().map(of_metric).sum()
    }

    /// The covered periods, from the instant of their first sample to that of their last, in order; periods at most
    /// `step` apart are joined.
    pub fn stretches(&self, step: Span) -> Vec<CoveredTime> {
        joined(self.covered().map(|(_, stretch)| stretch), step)
    }

    /// The segments, and the period that each covers.
    pub fn covered(&self) -> impl Iterator<Item = (&Segment, CoveredTime)> {
        let instant = |t: &TimedSegment, time: Timestamp| t.rhythm.instant(time.micros());
        let stretch =
            move |t: &TimedSegment| CoveredTime { first: instant(t, t.first), last: instant(t, t.last) };
        self.segments().map(move |t| (&t.segment, stretch(t)))
    }

    fn segments(&self) -> impl Iterator<Item = &TimedSegment> {
        self.hosts.values().flatten().map(Arc::as_ref)
    }

    /// A metric on a grid.
    pub fn table(&mut self, metric: &'static Metric, grid: Grid) -> Table {
        self.tables(&[metric], grid).swap_remove(0)
    }

    /// Some metrics on a grid, from one pass over the files. Hosts are read in parallel; each thread holds the
    /// readings of one host.
    pub fn tables(&mut self, metrics: &[&'static Metric], grid: Grid) -> Vec<Table> {
        keep_freed_memory();
        let query = Query { metrics, grid, wanted: self.wanted };
        let hosts: Vec<&[Arc<TimedSegment>]> = self.hosts.values().map(Vec::as_slice).collect();
        let mut tables: Vec<Table> = metrics.iter().map(|metric| Table::new(metric, grid)).collect();
        let mut problems = Vec::new();
        for together in hosts.chunks(HOSTS_PER_THREAD * rayon::current_num_threads()) {
            let of_hosts: Vec<HostTables> = together.par_iter().map(|segments| query.ask(segments)).collect();
            for of_host in of_hosts {
                tables.iter_mut().zip(of_host.tables).for_each(|(table, part)| table.extend(part));
                problems.extend(of_host.problems);
            }
        }
        self.note(problems);
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

/// True if a segment has one of these tables, or the rates of one.
pub(crate) fn has_any(segment: &Segment, tables: &[&str]) -> bool {
    let has = |table: &str| {
        let rates = Schema::named(table).map(|schema| schema.rates().name);
        segment.table.name == table || rates == Some(segment.table.name)
    };
    tables.iter().any(|table| has(table))
}

/// Hosts that a thread reads before their tables are joined: until then these take twice the memory.
const HOSTS_PER_THREAD: usize = 8;

/// The largest block whose release changes glibc's thresholds has 32 MiB.
const KEPT_BYTES: usize = 24 << 20;

/// Makes the allocator keep freed memory for the next host. glibc returns memory to the kernel beyond a threshold that
/// follows the largest block released so far (mallopt(3), `M_MMAP_THRESHOLD`); otherwise page faults take half of the time.
fn keep_freed_memory() {
    static ONCE: Once = Once::new();
    // The block is never touched, so it takes no memory.
    ONCE.call_once(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT_BYTES))));
}
