//! A dataset as the pipeline reads it.
//! In: a dataset, its cluster file and its feedback. Out: [`DatasetRecording`]. Always: a file that cannot be read hides no
//! other, and is reported once however often it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use laggard_core::model::cluster::{ClusterError, ClusterFile, Inventory, Recorded};
use laggard_core::model::component::Kind;
use laggard_core::model::host_facts::{HostFacts, RecordedHost};
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::recording::{ReadError, Recording, Visitor};
use laggard_core::suspects::feedback::Feedback;
use laggard_core::tables::Table;
use laggard_core::tables::covered_times::{portion_length, portions};
use laggard_core::tables::grid::Grid;
use laggard_core::tables::recorded_times::{FileTime, RecordedTimes};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::dataset::notebook;
use crate::dataset::segment::Segment;
use crate::dataset::{Dataset, Listing};
use crate::error::{Problem, StoreError};
use crate::tables::tabulate::{Tabulator, has_any};
use crate::tables::timed_segment::{TimedSegment, overviews};

/// A dataset, limited to the time that is diagnosed.
pub struct DatasetRecording {
    segments: Vec<Arc<TimedSegment>>,
    inventory: Inventory,
    feedback: Feedback,
    times: RecordedTimes,
    problems: Vec<Problem>,
}

/// Why a dataset cannot be diagnosed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{}: {error}", .path.display())]
    ClusterFile { path: PathBuf, error: std::io::Error },
    #[error("{}: {error}", .path.display())]
    Cluster { path: PathBuf, error: ClusterError },
    #[error("the dataset is empty: fill it with `laggard record` or `laggard import`")]
    Empty,
    #[error("no file of the dataset can be read: {0}")]
    Unreadable(String),
}

/// Values of all metrics in a portion: they bound the memory. Each portion decodes the row groups again that it shares with the
/// one before.
const VALUES_IN_A_PORTION: usize = 12_000_000;
/// Instants of a portion that are handed out together: scores of windows take several times the memory of their values.
const INSTANTS_TOGETHER: usize = 64;
/// The tables with metrics that are compared.
const TABLES: [&str; 4] = ["disk", "net", "link", "tcp"];

impl DatasetRecording {
    /// Opens a dataset with a cluster file, or with its own one.
    pub fn open(
        dataset: Dataset,
        cluster: Option<&Path>,
        (from, to): (Timestamp, Timestamp),
    ) -> Result<DatasetRecording, OpenError> {
        let file = cluster_file(&dataset, cluster)?;
        DatasetRecording::described(dataset, &file, (from, to))
    }

    /// Opens a dataset whose components are described by `file`.
    pub fn described(
        dataset: Dataset,
        file: &ClusterFile,
        (from, to): (Timestamp, Timestamp),
    ) -> Result<DatasetRecording, OpenError> {
        let (overviews, problems) = overviews(&dataset, is_of_system)?;
        let (feedback, misread) = notebook::read(&dataset)?;
        let (facts, unread) = dataset.facts(to)?;
        let recorded = recorded(overviews.iter().map(|(segment, overview)| (segment, &overview.components)));
        let timed =
            overviews.into_iter().filter_map(|(segment, o)| TimedSegment::new(segment, o, &everything));
        let segments: Vec<Arc<TimedSegment>> = timed.map(Arc::new).collect();
        let times = times(&segments, from, to).ok_or_else(|| nothing_to_read(&problems))?;
        let mut recording = DatasetRecording {
            times,
            segments,
            inventory: Inventory::with_facts(file, &recorded, &by_host(&facts)),
            feedback: feedback.by(to),
            problems: Vec::new(),
        };
        recording.note(problems.into_iter().chain(misread).chain(unread));
        Ok(recording)
    }

    /// Leaves the operators' feedback out.
    pub fn without_feedback(mut self) -> DatasetRecording {
        self.feedback = Feedback::default();
        self
    }

    pub fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }

    fn note(&mut self, problems: impl IntoIterator<Item = Problem>) {
        let mut known: BTreeSet<String> = self.problems.iter().map(ToString::to_string).collect();
        self.problems.extend(problems.into_iter().filter(|problem| known.insert(problem.to_string())));
    }

    fn portions(&self, tabulator: &Tabulator, metrics: &[&'static Metric], step: Span) -> Vec<Grid> {
        let length = portion_length(VALUES_IN_A_PORTION, tabulator.values(metrics));
        let stretches = tabulator.stretches(step);
        let grids = stretches.iter().filter_map(|stretch| self.times.grid(*stretch, step));
        grids.flat_map(|grid| portions(grid, length)).collect()
    }
}

impl Recording for DatasetRecording {
    fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    fn feedback(&self) -> &Feedback {
        &self.feedback
    }

    fn times(&self) -> &RecordedTimes {
        &self.times
    }

    fn problems(&self) -> Vec<String> {
        self.problems.iter().map(ToString::to_string).collect()
    }

    fn visit(
        &mut self,
        metrics: &[&'static Metric],
        step: Span,
        visitor: &mut Visitor<'_>,
    ) -> Result<ControlFlow<()>, ReadError> {
        let names: Vec<&str> = metrics.iter().map(|metric| metric.table).collect();
        let mut tabulator = tabulator(&self.segments, &names);
        let grids = self.portions(&tabulator, metrics, step);
        let all: usize = grids.iter().map(|grid| grid.len).sum();
        let (mut done, mut flow) = (0, ControlFlow::Continue(()));
        'portions: for &grid in &grids {
            let tables = tabulator.tables(metrics, grid);
            for part in portions(grid, INSTANTS_TOGETHER) {
                done += part.len;
                let parts: Vec<Table> = tables.iter().map(|table| table.part(part)).collect();
                flow = visitor(&parts, done as f64 / all as f64);
                if flow.is_break() {
                    break 'portions;
                }
            }
        }
        let problems = tabulator.into_problems();
        self.note(problems);
        Ok(flow)
    }
}

fn everything(_: &str) -> bool {
    true
}

fn tabulator(segments: &[Arc<TimedSegment>], tables: &[&str]) -> Tabulator<'static> {
    let with_table = segments.iter().filter(|timed| has_any(&timed.segment, tables));
    Tabulator::of(with_table.cloned(), &everything)
}

/// Nothing if there is no sample.
fn times(segments: &[Arc<TimedSegment>], from: Timestamp, to: Timestamp) -> Option<RecordedTimes> {
    let tabulator = tabulator(segments, &TABLES);
    let (shortest_interval, longest_interval, _) = tabulator.every()?;
    let files = tabulator.covered().map(|(segment, stretch)| FileTime {
        host: segment.host.clone(),
        kind: segment.table.kind.clone(),
        covered: stretch,
    });
    Some(RecordedTimes { files: files.collect(), shortest_interval, longest_interval, from, to })
}

fn nothing_to_read(problems: &[Problem]) -> OpenError {
    match problems {
        [] => OpenError::Empty,
        [only] => OpenError::Unreadable(only.to_string()),
        [first, others @ ..] => OpenError::Unreadable(format!("{first}; and {} more files", others.len())),
    }
}

/// The facts of each host, as an inventory takes them.
pub fn by_host(facts: &BTreeMap<String, RecordedHost>) -> BTreeMap<&str, &HostFacts> {
    facts.iter().map(|(host, recorded)| (host.as_str(), &recorded.facts)).collect()
}

/// The cluster file at `path`, or the dataset's own, or the default one.
pub fn cluster_file(dataset: &Dataset, path: Option<&Path>) -> Result<ClusterFile, OpenError> {
    let own = dataset.folder().map(|folder| folder.join("cluster.toml")).filter(|path| path.is_file());
    let Some(path) = path.map(Path::to_owned).or(own) else { return Ok(ClusterFile::default()) };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return Err(OpenError::ClusterFile { path, error }),
    };
    ClusterFile::parse(&text).map_err(|error| OpenError::Cluster { path, error })
}

/// Every component with samples, and every host, with the files that could not be read.
pub fn recorded_components(dataset: &Dataset) -> Result<(Vec<Recorded>, Vec<Problem>), StoreError> {
    let Listing { mut segments, mut problems } = dataset.segments()?;
    segments.retain(is_of_system);
    let listed: Vec<_> = segments.par_iter().map(|segment| (segment, segment.components())).collect();
    let mut components = Vec::with_capacity(listed.len());
    for (segment, names) in listed {
        match names {
            Ok(names) => components.push((segment, names)),
            Err(error) => problems.push(Problem { name: segment.name().to_string(), error }),
        }
    }
    Ok((recorded(components.iter().map(|(segment, names)| (*segment, names))), problems))
}

/// The recorder's own samples are not part of the system.
fn is_of_system(segment: &Segment) -> bool {
    segment.table.kind != Kind::RECORDER
}

/// The components of some segments, and their hosts.
fn recorded<'a>(segments: impl Iterator<Item = (&'a Segment, &'a BTreeSet<Arc<str>>)>) -> Vec<Recorded> {
    let mut recorded = BTreeSet::new();
    for (Segment { host, table, .. }, names) in segments {
        let of =
            |name: &str, kind: &Kind| Recorded { name: name.into(), kind: kind.clone(), host: host.clone() };
        recorded.insert(of(host, &Kind::SERVER));
        recorded.extend(names.iter().map(|name| of(name, &table.kind)));
    }
    recorded.into_iter().collect()
}
