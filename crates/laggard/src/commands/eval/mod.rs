//! `laggard eval`: scores methods on labelled data.

mod tables;

use std::path::PathBuf;

use clap::Args;
use laggard_core::methods::choice::check_windows;
use laggard_core::model::time::Span;
use laggard_core::recording::Recording;
use laggard_eval::scoring::{RunSettings, ScoredMethod, laggard};
use laggard_eval::studies::datasets::{self, LabelledDataset, thresholds};
use laggard_eval::studies::{Study, Task, evaluate};

use crate::arguments::positive_span;
use crate::failure::{Done, Outcome, tell};
use crate::{output, progress};

/// Score methods on labelled datasets, next to simple and well-known methods.
///
/// Labels are a CSV file with `component,begin,end,cause`: the faulty components and when they are faulty. An
/// empty begin or end means the begin or end of the recording. A label may name a server, LUN, controller or array. docs/evaluation.md explains the tables.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard eval data --labels labels.csv
  laggard eval data --labels labels.csv --method laggard --method running-mean --windows 5m,1h --curve
  laggard eval bench                             a folder of experiments, each with its labels.csv
  laggard eval recordings/gluster-10-10.tar.zst --step 200ms
  laggard eval day --study events --json")]
pub struct Eval {
    /// Datasets, folders of datasets, patterns, or archives of datasets (.tar.zst).
    #[arg(required = true)]
    dataset: Vec<String>,
    /// The labels file. Default: labels.csv in each dataset.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Methods to score. Default: laggard, and all that fit the study.
    #[arg(long, value_name = "METHOD", value_parser = scored_method)]
    method: Vec<ScoredMethod>,
    /// Window lengths, for methods that accept any.
    #[arg(long, value_name = "SPANS", value_delimiter = ',', value_parser = positive_span, default_value = "5m,15m,1h")]
    windows: Vec<Span>,
    /// The sampling step of production and testbench. Default: the step that the papers use.
    #[arg(long, value_name = "SPAN", value_parser = positive_span)]
    step: Option<Span>,
    /// The kind of labels: drives, experiments or events. Default: derived from the data.
    #[arg(long, value_parser = study)]
    study: Option<Study>,
    /// Also try other thresholds, and report the results within the budget of false alarms.
    #[arg(long)]
    curve: bool,
    /// Accepted false alarms in 1000 component-days.
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    budget: f64,
    /// Thresholds of `laggard train` for production or testbench; can be repeated. Default: thresholds*.toml in each
    /// dataset.
    #[arg(long, value_name = "FILE")]
    thresholds: Vec<PathBuf>,
    /// The cluster file. Default: cluster.toml in each dataset, or none.
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// As JSON: see docs/evaluation.md.
    #[arg(long)]
    json: bool,
}

fn study(name: &str) -> Result<Study, String> {
    Study::named(name).ok_or_else(|| format!("one of {}", Study::ALL.map(Study::as_str).join(", ")))
}

fn scored_method(word: &str) -> Result<ScoredMethod, String> {
    let words = || ScoredMethod::ALL.map(ScoredMethod::as_str).join(", ");
    ScoredMethod::named(word).ok_or_else(|| format!("not a method that can be scored; there are {}", words()))
}

impl Eval {
    pub fn run(self) -> Outcome {
        let found = datasets::find(&self.dataset, self.labels.as_deref())?;
        let labelled = &found.labelled;
        let mut task = self.task()?;
        let study = self.study.map_or_else(|| fitting(&task, labelled), Ok)?;
        if task.methods.is_empty() {
            task.methods = study.methods();
        }
        let bar = progress::over_shares();
        let document = evaluate(&task, study, labelled, &|message, done| {
            bar.set_message(message.to_owned());
            bar.set_position((done * progress::SHARES as f64) as u64);
        });
        bar.finish_and_clear();
        let document = document?;
        if self.json {
            output::json(&document)?;
        } else {
            tables::print(&document)?;
        }
        for warning in &document.warnings {
            tell(format_args!("warning: {}\n  next: {}", warning.text, warning.next));
        }
        Ok(Done::Well)
    }

    fn task(&self) -> anyhow::Result<Task> {
        if self.method.contains(&ScoredMethod::Laggard) {
            let lengths = self.windows.clone();
            check_windows(&laggard(&RunSettings { span: Span::ZERO, lengths, scale: 1.0, step: self.step }))?;
        }
        Ok(Task {
            methods: self.method.clone(),
            lengths: self.windows.clone(),
            step: self.step,
            is_swept: self.curve,
            budget: self.budget,
            trained: self.thresholds.iter().map(|file| thresholds(file)).collect::<anyhow::Result<_>>()?,
            cluster: self.cluster.clone(),
        })
    }
}

/// The default study, by the length of the first dataset.
fn fitting(task: &Task, labelled: &[LabelledDataset]) -> anyhow::Result<Study> {
    let first =
        labelled.first().map(|one| Ok::<_, anyhow::Error>(task.open(one)?.times().length()?)).transpose()?;
    Ok(Study::fitting(first.unwrap_or(Span::ZERO), labelled))
}
