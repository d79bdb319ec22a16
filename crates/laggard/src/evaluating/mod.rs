//! Scores of methods on labelled datasets: what `laggard eval` does.
//! In: datasets with their labels. Out: [`Document`], which is printed as tables or as JSON. Always: a label that
//! speaks of nobody is told, since it cannot be scored.

mod archive;
pub mod bench;
pub mod document;
pub mod drives;
pub mod found;
pub mod incidents;
pub mod tables;

use std::path::{Path, PathBuf};

use laggard_core::methods::papers::thresholds::Thresholds;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::report::Warning;
use laggard_core::suspects::feedback::Feedback;
use laggard_eval::scoring::entrants::{Entrant, Look};
use laggard_eval::scoring::truth::{Stranger, Truth};

use crate::examining::Recording;
use document::Document;
use found::Labelled;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
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
    /// The kind that fits datasets of that length with these labels.
    pub fn fitting(longest: Span, labelled: &[Labelled]) -> Study {
        let has_times = labelled.iter().flat_map(|one| &one.labels).any(|label| label.begin.is_some());
        match () {
            () if longest <= LONGEST_EXPERIMENT => Study::Experiments,
            () if has_times => Study::Events,
            () => Study::Drives,
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
    pub fn open(&self, labelled: &Labelled) -> anyhow::Result<Recording> {
        let always = (Timestamp::MIN, Timestamp::MAX);
        let mut recording = Recording::open(labelled.dataset.clone(), self.cluster.as_deref(), always)?;
        recording.feedback = Feedback::default();
        Ok(recording)
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
    fn remarks(&self, labelled: &[Labelled]) -> Vec<Warning> {
        let lacks = |entrant: &Entrant, one: &Labelled| !entrant.fits_any(&self.trained(one));
        let is_trained =
            |entrant: &&Entrant| entrant.is_trained() && labelled.iter().any(|one| lacks(entrant, one));
        let words: Vec<&str> =
            self.entrants.iter().filter(is_trained).map(|entrant| entrant.as_str()).collect();
        match words.is_empty() {
            true => Vec::new(),
            false => vec![Warning {
                text: format!("not trained, so going by each group's own spread: {}", words.join(", ")),
                next: "`laggard train` on calm data of the same system, then --thresholds".into(),
            }],
        }
    }
}

/// Scores methods.
pub fn evaluate(task: &Task, study: Study, labelled: &[Labelled]) -> anyhow::Result<Document> {
    let mut document = Document::new();
    match study {
        Study::Drives => drives::evaluate(task, labelled, &mut document)?,
        Study::Experiments => bench::evaluate(task, labelled, &mut document)?,
        Study::Events => incidents::evaluate(task, labelled, &mut document)?,
    }
    document.warnings.extend(task.remarks(labelled));
    Ok(document)
}

/// The truth of a recording. Labels of a file that is for several datasets may speak of others.
fn truth(recording: &Recording, labelled: &Labelled) -> (Truth, Vec<Warning>) {
    let (truth, strangers) = Truth::new(&recording.inventory, &labelled.labels);
    let told = |stranger: Stranger| told(stranger, labelled.file.as_deref());
    let strangers = if labelled.is_shared { Vec::new() } else { strangers };
    (truth, strangers.into_iter().map(told).collect())
}

fn told(stranger: Stranger, file: Option<&Path>) -> Warning {
    let Stranger { line, name, nearest } = stranger;
    let file = file.map_or("labels".into(), |file| file.display().to_string());
    let next = match nearest {
        Some(nearest) => {
            format!("the most similar name is {nearest}; `laggard tables --components` lists all")
        }
        None => "`laggard tables --components` lists what there is".into(),
    };
    Warning { text: format!("{file}:{line}: {name} is not in the dataset, so it is not scored"), next }
}
