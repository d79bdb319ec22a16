//! `laggard eval`: how good a method is, on labelled data.

mod tables;

use std::path::PathBuf;

use clap::Args;
use laggard_core::methods::choice::check_windows;
use laggard_core::model::time::Span;
use laggard_core::recording::Recording;
use laggard_eval::scoring::entrants::{Entrant, Look, laggard};
use laggard_eval::studies::datasets::{self, Labelled, thresholds};
use laggard_eval::studies::{Study, Task, evaluate};

use crate::arguments::positive_span;
use crate::failure::{Done, Outcome, tell};
use crate::{output, progress};

/// Score methods on datasets with labels, side by side with simple and well-known ones.
///
/// Labels are a CSV file with `component,begin,end,cause`: who is in trouble, and when; an empty begin or end means
/// the whole recording. A label may name a server, LUN, controller or array. docs/evaluation.md explains the tables.
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
    /// What is true. Default: labels.csv in each dataset.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Methods to score. Default: laggard, and all that fit the study.
    #[arg(long, value_name = "METHOD", value_parser = entrant)]
    method: Vec<Entrant>,
    /// How long windows are, where a method leaves that open.
    #[arg(long, value_name = "SPANS", value_delimiter = ',', value_parser = positive_span, default_value = "5m,15m,1h")]
    windows: Vec<Span>,
    /// The distance of samples for production and testbench. Default: the papers'.
    #[arg(long, value_name = "SPAN", value_parser = positive_span)]
    step: Option<Span>,
    /// What kind of truth there is. Default: what fits the data.
    #[arg(long, value_parser = study)]
    study: Option<Study>,
    /// Try other thresholds, too: what is found when false alarms are bounded.
    #[arg(long)]
    curve: bool,
    /// False alarms in 1000 component-days that are bearable.
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    budget: f64,
    /// What `laggard train` has learned, for production and testbench; may be given for each. Default:
    /// thresholds*.toml in each dataset.
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

fn entrant(word: &str) -> Result<Entrant, String> {
    let words = || Entrant::ALL.map(Entrant::as_str).join(", ");
    Entrant::named(word).ok_or_else(|| format!("not a method that can be scored; there are {}", words()))
}

impl Eval {
    pub fn run(self) -> Outcome {
        let found = datasets::find(&self.dataset, self.labels.as_deref())?;
        let labelled = &found.labelled;
        let mut task = self.task()?;
        let study = self.study.map_or_else(|| fitting(&task, labelled), Ok)?;
        if task.entrants.is_empty() {
            task.entrants = study.entrants();
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
        if self.method.contains(&Entrant::Laggard) {
            let lengths = self.windows.clone();
            check_windows(&laggard(&Look { span: Span::ZERO, lengths, scale: 1.0, step: self.step }))?;
        }
        Ok(Task {
            entrants: self.method.clone(),
            lengths: self.windows.clone(),
            step: self.step,
            is_swept: self.curve,
            budget: self.budget,
            trained: self.thresholds.iter().map(|file| thresholds(file)).collect::<anyhow::Result<_>>()?,
            cluster: self.cluster.clone(),
        })
    }
}

/// The study that fits; the first dataset is looked at for its length.
fn fitting(task: &Task, labelled: &[Labelled]) -> anyhow::Result<Study> {
    let first =
        labelled.first().map(|one| Ok::<_, anyhow::Error>(task.open(one)?.times().length()?)).transpose()?;
    Ok(Study::fitting(first.unwrap_or(Span::ZERO), labelled))
}
