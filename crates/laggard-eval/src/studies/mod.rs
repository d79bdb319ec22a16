//! Scores of methods on labelled datasets, as `laggard eval` prints them.
//! In: datasets with their labels. Out: [`Document`]. Always: a label that names no component is reported, since it cannot
//! be scored.

pub mod calibration;
pub mod datasets;
pub mod document;
mod drives;
mod events;
mod experiments;
pub mod sensitivity;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::scoring::reliability::{Reliability, Verdict};
use crate::scoring::scored_method::{RunSettings, ScoredMethod};
use crate::scoring::truth::{Truth, UnknownLabel};
use laggard_core::diagnosis::Suspect;
use laggard_core::methods::Method;
use laggard_core::methods::choice::ChoiceError;
use laggard_core::methods::papers::settings::PaperSettings;
use laggard_core::methods::papers::thresholds::Thresholds;
use laggard_core::model::cluster::ClusterFile;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::pipeline::{NoObserver, PipelineError, diagnose};
use laggard_core::report::Remark;

use datasets::LabelledDataset;
use document::Document;
use laggard_core::recording::Recording;
use laggard_core::tables::Table;
use laggard_store::dataset::Dataset;
use laggard_store::dataset_recording::DatasetRecording;

/// The settings of a study.
#[derive(Clone)]
pub struct Task {
    pub methods: Vec<ScoredMethod>,
    /// Window lengths.
    pub lengths: Vec<Span>,
    /// The sampling step of the papers' methods; `None`: the step that the papers use.
    pub step: Option<Span>,
    /// Changed numbers of the papers' methods.
    pub settings: PaperSettings,
    /// True to try other thresholds also.
    pub is_swept: bool,
    /// Accepted false alarms in 1000 component-days.
    pub budget: f64,
    /// Thresholds for all datasets.
    pub trained: Vec<Thresholds>,
    pub cluster: ClusterChoice,
}

/// The cluster file that datasets are scored with.
#[derive(Clone)]
pub enum ClusterChoice {
    /// The one in the dataset, if there is one.
    Own,
    File(PathBuf),
    /// None, even if the dataset has one: peers are found by what was recorded.
    Without,
}

impl ClusterChoice {
    /// Opens a dataset until a time.
    fn open(&self, dataset: &Dataset, until: Timestamp) -> anyhow::Result<DatasetRecording> {
        let (dataset, times) = (dataset.clone(), (Timestamp::MIN, until));
        let recording = match self {
            ClusterChoice::Own => DatasetRecording::open(dataset, None, times),
            ClusterChoice::File(file) => DatasetRecording::open(dataset, Some(file), times),
            ClusterChoice::Without => DatasetRecording::described(dataset, &ClusterFile::default(), times),
        };
        // Feedback of operators must not change the scores.
        Ok(recording?.without_feedback())
    }
}

/// The kind of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Study {
    /// A component is faulty for the whole recording or not at all.
    Drives,
    /// Each dataset is an experiment with at most one faulty server.
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

    /// The default for datasets of this length with these labels.
    pub fn fitting(longest: Span, labelled: &[LabelledDataset]) -> Study {
        let has_times = labelled.iter().flat_map(|one| &one.labels).any(|label| label.begin.is_some());
        if longest <= LONGEST_EXPERIMENT {
            Study::Experiments
        } else if has_times {
            Study::Events
        } else {
            Study::Drives
        }
    }

    /// The methods that are scored by default.
    pub fn methods(self) -> Vec<ScoredMethod> {
        let is_usual = |scored_method: &ScoredMethod| match self {
            Study::Drives => {
                !matches!(scored_method.as_str(), "production-median" | "production-thresh" | "testbench")
            }
            Study::Experiments => !scored_method.as_str().starts_with("production"),
            Study::Events => *scored_method != ScoredMethod::Testbench,
        };
        ScoredMethod::ALL.into_iter().filter(is_usual).collect()
    }
}

impl Task {
    pub fn open(&self, labelled: &LabelledDataset) -> anyhow::Result<DatasetRecording> {
        self.open_until(labelled, Timestamp::MAX)
    }

    /// As a user has it at a time.
    fn open_until(&self, labelled: &LabelledDataset, until: Timestamp) -> anyhow::Result<DatasetRecording> {
        self.cluster.open(&labelled.dataset, until)
    }

    /// The thresholds for all datasets, then those of the dataset.
    fn trained(&self, labelled: &LabelledDataset) -> Vec<Thresholds> {
        self.trained.iter().chain(&labelled.trained).cloned().collect()
    }

    /// The settings for a recording of this length.
    fn run(&self, span: Span, lengths: &[Span]) -> RunSettings {
        let lengths = lengths.to_vec();
        RunSettings { span, lengths, scale: 1.0, step: self.step, settings: self.settings }
    }

    fn method(
        &self,
        scored_method: ScoredMethod,
        labelled: &LabelledDataset,
        run: &RunSettings,
    ) -> Result<Box<dyn Method>, ChoiceError> {
        scored_method.method(run, &self.trained(labelled))
    }

    /// The labelled faults of a recording, and labels that name no component. Labels have the names of the dataset's cluster
    /// file, also where it is scored without one. Labels of a shared file may name components of other datasets.
    fn truth(
        &self,
        recording: &DatasetRecording,
        labelled: &LabelledDataset,
    ) -> anyhow::Result<(Truth, Vec<Remark>)> {
        let inventory = recording.inventory();
        let (truth, unknown) = match self.cluster {
            ClusterChoice::Own | ClusterChoice::File(_) => Truth::new(inventory, &labelled.labels),
            ClusterChoice::Without => {
                let named = ClusterChoice::Own.open(&labelled.dataset, Timestamp::MAX)?;
                let (truth, unknown) = Truth::new(named.inventory(), &labelled.labels);
                (truth.of_other_inventory(named.inventory(), inventory), unknown)
            }
        };
        let unknown = if labelled.is_shared { Vec::new() } else { unknown };
        Ok((truth, unknown_labels(unknown, labelled.file.as_deref()).into_iter().collect()))
    }

    /// Warnings about methods, independent of the data.
    fn remarks(&self, labelled: &[LabelledDataset]) -> Vec<Remark> {
        let lacks =
            |scored_method: &ScoredMethod, one: &LabelledDataset| !scored_method.fits_any(&self.trained(one));
        let is_trained = |scored_method: &&ScoredMethod| {
            scored_method.is_trained() && labelled.iter().any(|one| lacks(scored_method, one))
        };
        let words: Vec<&str> =
            self.methods.iter().filter(is_trained).map(|scored_method| scored_method.as_str()).collect();
        match words.is_empty() {
            true => Vec::new(),
            false => vec![Remark {
                text: format!(
                    "not trained, thresholds are derived from the spread of each group: {}",
                    words.join(", ")
                ),
                next: "run `laggard train` on fault-free data of the same system, then use --thresholds"
                    .into(),
            }],
        }
    }
}

/// Reports progress: what is being scored, and the completed share.
pub type Progress<'a> = dyn Fn(&str, f64) + Sync + 'a;

pub fn evaluate(
    task: &Task,
    study: Study,
    labelled: &[LabelledDataset],
    progress: &Progress<'_>,
) -> anyhow::Result<Document> {
    let mut document = Document::default();
    let verdicts = match study {
        Study::Drives => drives::evaluate(task, labelled, &mut document, progress)?,
        Study::Experiments => experiments::evaluate(task, labelled, &mut document, progress)?,
        Study::Events => events::evaluate(task, labelled, &mut document, progress)?,
    };
    let reliability = |(scored_method, verdicts): (&ScoredMethod, &Vec<Verdict>)| {
        Reliability::new(scored_method.as_str(), verdicts)
    };
    document.reliability = task.methods.iter().zip(&verdicts).map(reliability).collect();
    document.warnings.extend(task.remarks(labelled));
    Ok(document)
}

/// The suspects of a recording; none if it is too poor to evaluate.
fn suspects(recording: &mut DatasetRecording, method: &dyn Method) -> Result<Vec<Suspect>, PipelineError> {
    match diagnose(recording, method, &mut NoObserver) {
        Ok(report) => Ok(report.suspects.iter().flat_map(Suspect::incidents).collect()),
        Err(PipelineError::TooPoor(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// One remark about all labels that name nothing: the first one stands for the others.
fn unknown_labels(unknown: Vec<UnknownLabel>, file: Option<&Path>) -> Option<Remark> {
    let others = unknown.len().saturating_sub(1);
    let UnknownLabel { line, name, nearest } = unknown.into_iter().next()?;
    let file = file.map_or("labels".into(), |file| file.display().to_string());
    let next = match nearest {
        Some(nearest) => {
            format!("the most similar name is {nearest}; `laggard tables --components` lists all")
        }
        None => "`laggard tables --components` lists all components".into(),
    };
    let text = match others {
        0 => format!("{file}:{line}: {name} is not in the dataset, so it is not scored"),
        1 => {
            format!("{file}:{line}: {name} and 1 other label are not in the dataset, so they are not scored")
        }
        _ => format!(
            "{file}:{line}: {name} and {others} other labels are not in the dataset, so they are not scored"
        ),
    };
    Some(Remark { text, next })
}

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
