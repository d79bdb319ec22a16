//! Scores of methods on labelled datasets, as `laggard eval` prints them.
//! In: datasets with their labels. Out: [`Document`]. Always: a label that names no component is reported, since it cannot
//! be scored.

mod archive;
pub mod datasets;
pub mod document;
mod drives;
mod events;
mod experiments;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::scoring::entrants::{Entrant, Look};
use crate::scoring::truth::{Stranger, Truth};
use laggard_core::methods::papers::thresholds::Thresholds;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::report::Remark;

use datasets::Labelled;
use document::Document;
use laggard_core::recording::Recording;
use laggard_core::tables::Table;
use laggard_store::dataset_recording::DatasetRecording;

/// What all studies need.
pub struct Task {
    /// Who is scored.
    pub entrants: Vec<Entrant>,
    /// How long windows are.
    pub lengths: Vec<Span>,
    /// The distance of samples, for the methods of the papers; nothing: the papers'.
    pub step: Option<Span>,
    /// Whether thresholds are swept.
    pub is_swept: bool,
    /// False alarms in 1000 component-days that are bearable.
    pub budget: f64,
    /// What was trained.
    pub trained: Vec<Thresholds>,
    /// The cluster file, where it is not the dataset's own.
    pub cluster: Option<PathBuf>,
}

/// What kind of truth there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Study {
    /// Components are in trouble all the time, or not: windows, and who is named how soon.
    Drives,
    /// Each dataset is an experiment with a faulty server, or none.
    Experiments,
    /// Events that begin and end.
    Events,
}

/// A recording no longer than this is an experiment.
const LONGEST_EXPERIMENT: Span = Span::from_seconds(3600);

impl Study {
    pub const ALL: [Study; 3] = [Study::Drives, Study::Experiments, Study::Events];

    pub fn as_str(self) -> &'static str {
        match self {
            Study::Drives => "drives",
            Study::Experiments => "experiments",
            Study::Events => "events",
        }
    }

    pub fn named(name: &str) -> Option<Study> {
        Study::ALL.into_iter().find(|study| study.as_str() == name)
    }

    /// The kind that fits datasets of that length with these labels.
    pub fn fitting(longest: Span, labelled: &[Labelled]) -> Study {
        let has_times = labelled.iter().flat_map(|one| &one.labels).any(|label| label.begin.is_some());
        if longest <= LONGEST_EXPERIMENT {
            Study::Experiments
        } else if has_times {
            Study::Events
        } else {
            Study::Drives
        }
    }

    /// Who is scored unless told otherwise.
    pub fn entrants(self) -> Vec<Entrant> {
        let is_usual = |entrant: &Entrant| match self {
            Study::Drives => {
                !matches!(entrant.as_str(), "production-median" | "production-thresh" | "testbench")
            }
            Study::Experiments => !entrant.as_str().starts_with("production"),
            Study::Events => *entrant != Entrant::Testbench,
        };
        Entrant::ALL.into_iter().filter(is_usual).collect()
    }
}

impl Task {
    /// The recording of a dataset. What operators said of it is left out: a method is scored by what it finds itself.
    pub fn open(&self, labelled: &Labelled) -> anyhow::Result<DatasetRecording> {
        let always = (Timestamp::MIN, Timestamp::MAX);
        let recording = DatasetRecording::open(labelled.dataset.clone(), self.cluster.as_deref(), always)?;
        Ok(recording.without_feedback())
    }

    /// What was trained for a dataset: what is given for all, then its own.
    fn trained(&self, labelled: &Labelled) -> Vec<Thresholds> {
        self.trained.iter().chain(&labelled.trained).cloned().collect()
    }

    /// A method, to look at a recording of that length once.
    fn method(
        &self,
        entrant: Entrant,
        labelled: &Labelled,
        span: Span,
        lengths: &[Span],
    ) -> Box<dyn laggard_core::methods::Method> {
        let look = Look { span, lengths: lengths.to_vec(), scale: 1.0, step: self.step };
        entrant.method(&look, &self.trained(labelled))
    }

    /// What is to be said of the methods, whatever the data.
    fn remarks(&self, labelled: &[Labelled]) -> Vec<Remark> {
        let lacks = |entrant: &Entrant, one: &Labelled| !entrant.fits_any(&self.trained(one));
        let is_trained =
            |entrant: &&Entrant| entrant.is_trained() && labelled.iter().any(|one| lacks(entrant, one));
        let words: Vec<&str> =
            self.entrants.iter().filter(is_trained).map(|entrant| entrant.as_str()).collect();
        match words.is_empty() {
            true => Vec::new(),
            false => vec![Remark {
                text: format!("not trained, so going by each group's own spread: {}", words.join(", ")),
                next: "`laggard train` on calm data of the same system, then --thresholds".into(),
            }],
        }
    }
}

/// Shows how far a study is: what is scored, and the share that is done.
pub type Progress<'a> = dyn Fn(&str, f64) + Sync + 'a;

/// Scores methods.
pub fn evaluate(
    task: &Task,
    study: Study,
    labelled: &[Labelled],
    progress: &Progress<'_>,
) -> anyhow::Result<Document> {
    let mut document = Document::new();
    match study {
        Study::Drives => drives::evaluate(task, labelled, &mut document, progress)?,
        Study::Experiments => experiments::evaluate(task, labelled, &mut document, progress)?,
        Study::Events => events::evaluate(task, labelled, &mut document, progress)?,
    }
    document.warnings.extend(task.remarks(labelled));
    Ok(document)
}

/// The truth of a recording. Labels of a file that is for several datasets may speak of others.
fn truth(recording: &DatasetRecording, labelled: &Labelled) -> (Truth, Vec<Remark>) {
    let (truth, strangers) = Truth::new(recording.inventory(), &labelled.labels);
    let told = |stranger: Stranger| told(stranger, labelled.file.as_deref());
    let strangers = if labelled.is_shared { Vec::new() } else { strangers };
    (truth, strangers.into_iter().map(told).collect())
}

fn told(stranger: Stranger, file: Option<&Path>) -> Remark {
    let Stranger { line, name, nearest } = stranger;
    let file = file.map_or("labels".into(), |file| file.display().to_string());
    let next = match nearest {
        Some(nearest) => {
            format!("the most similar name is {nearest}; `laggard tables --components` lists all")
        }
        None => "`laggard tables --components` lists what there is".into(),
    };
    Remark { text: format!("{file}:{line}: {name} is not in the dataset, so it is not scored"), next }
}

/// Reads some metrics of a recording from begin to end.
fn visit(
    recording: &mut DatasetRecording,
    metrics: &[&'static Metric],
    step: Span,
    take: &mut dyn FnMut(&[Table], f64),
) -> anyhow::Result<()> {
    let visited = recording.visit(metrics, step, &mut |tables, done| {
        take(tables, done);
        ControlFlow::Continue(())
    });
    visited.map(|_| ()).map_err(|error| anyhow::anyhow!(error))
}
