//! `laggard eval`: scores methods on labelled data.

mod print;

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use laggard_core::methods::choice::check_windows;
use laggard_core::methods::papers::settings::{PaperSettings, Parameter};
use laggard_core::model::time::Span;
use laggard_core::recording::Recording;
use laggard_eval::scoring::{RunSettings, ScoredMethod, laggard};
use laggard_eval::studies::datasets::{self, LabelledDataset, thresholds};
use laggard_eval::studies::sensitivity::{SWEPT, Sweep, sweep};
use laggard_eval::studies::{ClusterChoice, Study, Task, evaluate};

use crate::arguments::positive_span;
use crate::failure::{Done, Outcome, tell};
use crate::method_options::{all_settings, paper_setting};
use crate::{output, progress};

/// Score methods on labelled datasets, next to simple and well-known methods.
///
/// Labels are a CSV file with `component,begin,end,cause`: the faulty components and when they are faulty. An
/// empty begin or end means the begin or end of the recording. A label may name a server, LUN, controller or array.
/// docs/scoring.md explains the tables.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard eval data --labels labels.csv
  laggard eval data --labels labels.csv --method laggard --method running-mean --windows 5m,1h --curve
  laggard eval bench                             a folder of experiments, each with its labels.csv
  laggard eval recordings/gluster-10-10.tar.zst --step 200ms
  laggard eval day --study events --json
  laggard eval bench --without-cluster-file --reliability
  laggard eval bench --method testbench --set window=128
  laggard eval bench --sweep --train calm        how the rates depend on the numbers of testbench
  laggard eval bench --sweep=k,window --json")]
pub(crate) struct Eval {
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
    /// Change a number of production and testbench, such as window=128; can be repeated. See docs/methods.md.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = paper_setting)]
    settings: Vec<PaperSettings>,
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
    /// Score testbench on experiments with other values of its numbers, one at a time, as in FAST '10, section 11.2.
    /// Default: smoothing, window, shift, k, cushion and cwnd-smoothing.
    #[arg(
        long,
        value_name = "KEYS",
        num_args = 0..=1,
        require_equals = true,
        value_delimiter = ',',
        default_missing_value = "smoothing,window,shift,k,cushion,cwnd-smoothing",
        value_parser = swept,
        conflicts_with_all = ["method", "thresholds", "study", "curve"]
    )]
    sweep: Option<Vec<Parameter>>,
    /// A fault-free dataset, from which --sweep learns the thresholds for each value.
    #[arg(long, value_name = "DATASET", requires = "sweep")]
    train: Option<String>,
    /// The cluster file. Default: cluster.toml in each dataset, or none.
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// Score without cluster files, also where datasets have one.
    #[arg(long, conflicts_with = "cluster")]
    without_cluster_file: bool,
    /// Also print how often stated causes are right, by their confidence.
    #[arg(long, conflicts_with = "sweep")]
    reliability: bool,
    /// As JSON: see docs/scoring.md.
    #[arg(long)]
    json: bool,
}

fn study(name: &str) -> Result<Study, String> {
    Study::named(name).ok_or_else(|| format!("one of {}", Study::ALL.map(Study::as_str).join(", ")))
}

fn swept(word: &str) -> Result<Parameter, String> {
    let names = || SWEPT.map(|(parameter, _)| parameter.as_str()).join(", ");
    let known = SWEPT.into_iter().map(|(parameter, _)| parameter).find(|known| known.as_str() == word);
    known.ok_or_else(|| format!("not a number that is swept; there are {}", names()))
}

fn scored_method(word: &str) -> Result<ScoredMethod, String> {
    let words = || ScoredMethod::ALL.map(ScoredMethod::as_str).join(", ");
    ScoredMethod::named(word).ok_or_else(|| format!("not a method that can be scored; there are {}", words()))
}

impl Eval {
    pub(crate) fn run(self) -> Outcome {
        let mut found = datasets::find(&self.dataset, self.labels.as_deref())?;
        if self.sweep.is_some() {
            // They were trained with one value of each number.
            found.labelled.iter_mut().for_each(|one| one.trained.clear());
        }
        let labelled = &found.labelled;
        let mut task = self.task()?;
        let bar = progress::over_shares();
        let show = |message: &str, done: f64| {
            bar.set_message(message.to_owned());
            bar.set_position((done * progress::SHARES as f64) as u64);
        };
        let document = match self.sweep() {
            Some(swept) => sweep(&task, &swept, labelled, &show),
            None => {
                let study = self.study.map_or_else(|| fitting(&task, labelled), Ok)?;
                if task.methods.is_empty() {
                    task.methods = study.methods();
                }
                check_settings(&task)?;
                evaluate(&task, study, labelled, &show)
            }
        };
        bar.finish_and_clear();
        let document = document?;
        if self.json {
            output::json(&document)?;
        } else {
            print::print(&document)?;
            if self.reliability {
                print::reliability(&document)?;
            }
        }
        for warning in &document.warnings {
            tell(format_args!("warning: {}\n  next: {}", warning.text, warning.next));
        }
        Ok(Done::Well)
    }

    fn sweep(&self) -> Option<Sweep> {
        let parameters = self.sweep.clone()?;
        Some(Sweep { parameters, training: self.train.clone() })
    }

    fn task(&self) -> anyhow::Result<Task> {
        if self.method.contains(&ScoredMethod::Laggard) {
            let lengths = self.windows.clone();
            let (span, settings) = (Span::ZERO, PaperSettings::default());
            check_windows(&laggard(&RunSettings { span, lengths, scale: 1.0, step: self.step, settings }))?;
        }
        Ok(Task {
            methods: self.method.clone(),
            lengths: self.windows.clone(),
            step: self.step,
            settings: all_settings(&self.settings),
            is_swept: self.curve,
            budget: self.budget,
            trained: self.thresholds.iter().map(|file| thresholds(file)).collect::<anyhow::Result<_>>()?,
            cluster: self.cluster_choice(),
        })
    }

    fn cluster_choice(&self) -> ClusterChoice {
        match &self.cluster {
            Some(file) => ClusterChoice::File(file.clone()),
            None if self.without_cluster_file => ClusterChoice::Without,
            None => ClusterChoice::Own,
        }
    }
}

/// Settings that no method uses would change nothing.
fn check_settings(task: &Task) -> anyhow::Result<()> {
    if !task.settings.is_empty() && !task.methods.iter().any(|method| method.is_trained()) {
        bail!("--set is for production and testbench: add --method production or testbench, or leave it out");
    }
    Ok(())
}

/// The default study, by the length of the first dataset.
fn fitting(task: &Task, labelled: &[LabelledDataset]) -> anyhow::Result<Study> {
    let first =
        labelled.first().map(|one| Ok::<_, anyhow::Error>(task.open(one)?.times().length()?)).transpose()?;
    Ok(Study::fitting(first.unwrap_or(Span::ZERO), labelled))
}
