//! A dataset as the pipeline reads it.
//! In: a dataset, its cluster file and its feedback. Out: [`DatasetRecording`]. Always: a file that cannot be read hides no
//! other, and is reported once however often it is read.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use laggard_core::model::cluster::{ClusterError, ClusterFile, Inventory, Recorded};
use laggard_core::model::component::Kind;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::recording::{ReadError, Recording, Visitor};
use laggard_core::suspects::feedback::Feedback;
use laggard_core::tables::grid::Grid;
use laggard_core::tables::recorded_times::{FileTime, RecordedTimes};
use laggard_core::tables::stretches::{portion_length, portions};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::dataset::notebook;
use crate::dataset::{Dataset, Listing};
use crate::error::{Problem, StoreError};
use crate::tables::tabulate::Tabulator;

/// A dataset, limited to the time that is diagnosed.
pub struct DatasetRecording {
    dataset: Dataset,
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

/// Values of one metric in a portion: they bound the memory.
const VALUES_IN_A_PORTION: usize = 8_000_000;
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
        let (recorded, problems) = recorded_components(&dataset)?;
        let (feedback, misread) = notebook::read(&dataset)?;
        let mut recording = DatasetRecording {
            times: times(&dataset, from, to)?,
            dataset,
            inventory: Inventory::new(&file, &recorded),
            feedback: feedback.by(to),
            problems: Vec::new(),
        };
        recording.note(problems.into_iter().chain(misread));
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

    fn portions(&self, tabulator: &Tabulator, step: Span) -> Vec<Grid> {
        let length = portion_length(VALUES_IN_A_PORTION, tabulator.components());
        let (from, to) = (self.times.from, self.times.to);
        let stretches = tabulator.stretches(step);
        let grids = stretches.iter().filter_map(|stretch| stretch.grid(from, to, step));
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
        let everything = |_: &str| true;
        let names: Vec<&str> = metrics.iter().map(|metric| metric.table).collect();
        let mut tabulator = Tabulator::new(&self.dataset, &names, &everything)?;
        let grids = self.portions(&tabulator, step);
        let all: usize = grids.iter().map(|grid| grid.len).sum();
        let (mut done, mut flow) = (0, ControlFlow::Continue(()));
        for &grid in &grids {
            let tables = tabulator.tables(metrics, grid);
            done += grid.len;
            flow = visitor(&tables, done as f64 / all as f64);
            if flow.is_break() {
                break;
            }
        }
        let problems = tabulator.into_problems();
        self.note(problems);
        Ok(flow)
    }
}

fn times(dataset: &Dataset, from: Timestamp, to: Timestamp) -> Result<RecordedTimes, OpenError> {
    let everything = |_: &str| true;
    let tabulator = Tabulator::new(dataset, &TABLES, &everything)?;
    let Some((shortest_interval, longest_interval, _)) = tabulator.every() else {
        return Err(nothing_to_read(tabulator.problems()));
    };
    let files = tabulator.covered().map(|(segment, stretch)| FileTime {
        host: segment.host.clone(),
        kind: segment.table.kind.clone(),
        stretch,
    });
    Ok(RecordedTimes { files: files.collect(), shortest_interval, longest_interval, from, to })
}

fn nothing_to_read(problems: &[Problem]) -> OpenError {
    match problems {
        [] => OpenError::Empty,
        [only] => OpenError::Unreadable(only.to_string()),
        [first, others @ ..] => OpenError::Unreadable(format!("{first}; and {} more files", others.len())),
    }
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

/// Every component with samples, and every host, with the files that could not be read. The recorder's own samples are
/// not part of the system.
pub fn recorded_components(dataset: &Dataset) -> Result<(Vec<Recorded>, Vec<Problem>), StoreError> {
    let Listing { segments, mut problems } = dataset.segments()?;
    let mut recorded = BTreeSet::new();
    let segments = segments.par_iter().filter(|segment| segment.table.kind != Kind::RECORDER);
    let listed: Vec<_> = segments.map(|segment| (segment, segment.components())).collect();
    for (segment, components) in listed {
        let (host, kind) = (segment.host.clone(), segment.table.kind.clone());
        let of =
            |name: &str, kind: &Kind| Recorded { name: name.into(), kind: kind.clone(), host: host.clone() };
        match components {
            Ok(names) => {
                recorded.insert(of(&host, &Kind::SERVER));
                recorded.extend(names.iter().map(|name| of(name, &kind)));
            }
            Err(error) => problems.push(Problem { name: segment.name().to_string(), error }),
        }
    }
    Ok((recorded.into_iter().collect(), problems))
}
