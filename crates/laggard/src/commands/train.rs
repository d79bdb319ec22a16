//! `laggard train`: thresholds or usual ratios from a calm recording.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};
use laggard_core::diagnosis::Warning;
use laggard_core::methods::choice::{ChoiceError, MethodChoice, MethodName, PaperOptions};
use laggard_core::methods::papers::settings::{PaperSettings, Parameter};
use laggard_core::methods::papers::thresholds::Thresholds;
use laggard_core::methods::usual_ratios::{TrainedOn, UsualRatios};
use laggard_core::pipeline::{self, Training, UsualTraining};
use laggard_core::recording::Recording;
use laggard_core::report::html::training;
use laggard_core::report::number::{instant, percent, ratio, significant, span, times};
use laggard_core::report::warning_texts::remark;
use laggard_core::training::{ThresholdSummary, Trainable, TrainingResult};
use laggard_store::dataset_recording::DatasetRecording;

use super::tables;
use crate::arguments::now;
use crate::atomic_file::AtomicFile;
use crate::failure::{Done, Outcome, tell};
use crate::method_options::Details;
use crate::timeframe::Timeframe;
use crate::{output, progress};

/// Learn from a calm recording how much each component may differ from its peers.
///
/// The methods production and testbench learn thresholds. The method laggard needs no training, but can learn which components
/// usually differ from their peers: other hardware, another role. The recording should be calm: choose a time in which no
/// component was faulty and the system had work to do. This is checked, and --html shows it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard train data -o thresholds.toml --from 2026-11-14 --to 2026-11-15 --html calm.html
  laggard train stress -o bench.toml --method testbench
  laggard train stress -o wide.toml --method testbench --set window=128 --set cushion=1.5
  laggard diagnose data --method production --thresholds thresholds.toml
  laggard train data -o usual.toml --method laggard
  laggard diagnose data --thresholds usual.toml

Exit status: 0 done, 2 usage or input error, 4 too little to learn from.")]
pub(crate) struct Train {
    /// The dataset: a folder, or an object-store prefix.
    dataset: String,
    /// Where to write the thresholds or the usual ratios.
    #[arg(short, long, value_name = "THRESHOLDS.toml")]
    out: PathBuf,
    /// The method to train.
    #[arg(long, value_enum, default_value_t)]
    method: TrainedMethod,
    #[command(flatten)]
    details: Details,
    /// The cluster file. Default: cluster.toml in the dataset, or none.
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    #[command(flatten)]
    timeframe: Timeframe,
    /// Write a page with all members of each group in one picture, to check that the time was calm. For production and
    /// testbench.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// A method that is trained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum TrainedMethod {
    /// Intrepid in production: cumulative histograms over 15 minutes, every 15 s.
    #[default]
    Production,
    /// FAST '10 test bench: histograms over 64 s, every second.
    Testbench,
    /// The usual ratio of each component to its peers.
    Laggard,
}

/// Components listed at most.
const MOST_NAMED: usize = 5;

impl Train {
    pub(crate) fn run(self) -> Outcome {
        let out = AtomicFile::create(&self.out)?;
        let page = self.html.as_deref().map(AtomicFile::create).transpose()?;
        let dataset = tables::open(&self.dataset)?;
        let recording = DatasetRecording::open(dataset, self.cluster.as_deref(), self.timeframe.ends()?)?;
        // A component repaired since was faulty before: the training time was not calm.
        let mut recording = recording.without_feedback();
        let options = self.details.parsed();
        let trainable = match self.method {
            TrainedMethod::Production => {
                Trainable::Production(options.published().map_err(ChoiceError::from)?)
            }
            TrainedMethod::Testbench => Trainable::Testbench(options.published().map_err(ChoiceError::from)?),
            TrainedMethod::Laggard => return self.run_laggard(options, out, &mut recording),
        };
        let trained = self.train(&trainable, &mut recording);
        recording.problems().iter().for_each(tell);
        let (thresholds, result) = trained?;
        out.write(&thresholds.to_toml()?)?;
        self.print(&result, page)?;
        Ok(done(&recording))
    }

    fn run_laggard(
        &self,
        details: PaperOptions,
        out: AtomicFile,
        recording: &mut DatasetRecording,
    ) -> Outcome {
        if self.html.is_some() {
            bail!(
                "--html is for production and testbench: `laggard diagnose --html` shows whether the time was calm"
            );
        }
        let choice = MethodChoice { name: MethodName::Laggard, details, ..MethodChoice::default() };
        let method = choice.laggard(recording.times().length()?)?;
        let bar = progress::over_shares();
        let trained = pipeline::train_usual_ratios(recording, &method, (&self.dataset, now()), &mut |done| {
            bar.set_position((done * progress::SHARES as f64) as u64);
        });
        bar.finish_and_clear();
        recording.problems().iter().for_each(tell);
        let UsualTraining { usual, warnings } = trained?;
        out.write(&usual.to_toml()?)?;
        self.print_usual(&usual, &warnings)?;
        Ok(done(recording))
    }

    fn print_usual(&self, usual: &UsualRatios, warnings: &[Warning]) -> anyhow::Result<()> {
        let mut table = output::table(&["component", "metric", "usual ratio", "variation"], &[2, 3]);
        for (component, metric, ratio) in usual.differing() {
            let variation = usual.of(component, metric).map_or(0.0, |usual| usual.variation);
            table.add_row([component.to_owned(), metric.to_string(), times(ratio), percent(variation)]);
        }
        if table.is_empty() {
            let mut out = output::stdout();
            out.write_all(b"No component usually differs from its peers.\n")?;
            out.flush()?;
        } else {
            output::print(&table)?;
        }
        tell_warnings(warnings);
        let (out, TrainedOn { from, to, .. }) = (self.out.display(), &usual.trained);
        let (since, until, length) = (instant(*from), instant(*to), span(*to - *from));
        tell(format_args!("{out}: from {since} to {until} ({length}); use it with --thresholds {out}"));
        Ok(())
    }

    fn train(
        &self,
        trainable: &Trainable,
        recording: &mut DatasetRecording,
    ) -> anyhow::Result<(Thresholds, TrainingResult)> {
        let (dataset, has_pictures) = (self.dataset.as_str(), self.html.is_some());
        let training = Training { trainable, dataset, now: now(), has_pictures };
        let bar = progress::over_shares();
        let trained = pipeline::train(recording, &training, &mut |done| {
            bar.set_position((done * progress::SHARES as f64) as u64);
        });
        bar.finish_and_clear();
        Ok(trained?)
    }

    fn print(&self, result: &TrainingResult, page: Option<AtomicFile>) -> anyhow::Result<()> {
        page.map_or(Ok(()), |page| page.write(&training::page(result)))?;
        output::print(&lines(&result.summaries))?;
        let mut out = output::stdout();
        out.write_all(outliers(&result.summaries).as_bytes())?;
        out.flush()?;
        tell_warnings(&result.warnings);
        let (out, origin) = (self.out.display(), &result.origin);
        tell(format_args!(
            "{}: from {} to {} ({}); use it with --method {} --thresholds {}{}",
            out,
            instant(origin.from),
            instant(origin.to),
            span(origin.to - origin.from),
            origin.method,
            out,
            set(&origin.settings)
        ));
        if let Some(path) = &self.html {
            tell(format_args!("check whether it was calm: {}", path.display()));
        }
        Ok(())
    }
}

fn done(recording: &DatasetRecording) -> Done {
    if recording.has_problems() { Done::WithErrors } else { Done::Well }
}

fn tell_warnings(warnings: &[Warning]) {
    for warning in warnings.iter().map(remark) {
        tell(format_args!("  !  {}\n  -> {}", warning.text, warning.next));
    }
}

/// The options for the same settings: ` --set window=40`.
fn set(settings: &PaperSettings) -> String {
    let option = |parameter: &Parameter| Some(format!(" --set {parameter}={}", settings.get(*parameter)?));
    Parameter::ALL.iter().filter_map(option).collect()
}

fn lines(summaries: &[ThresholdSummary]) -> comfy_table::Table {
    let heading = ["peer group", "metric", "thresholds", "windows", "lowest", "median", "highest"];
    let mut table = output::table(&heading, &[2, 3, 4, 5, 6]);
    for summary in summaries {
        table.add_row([
            summary.group.clone(),
            summary.metric.to_string(),
            summary.thresholds.to_string(),
            summary.windows.to_string(),
            significant(summary.lowest),
            significant(summary.median),
            significant(summary.highest),
        ]);
    }
    table
}

/// Thresholds far above the others.
fn outliers(summaries: &[ThresholdSummary]) -> String {
    let mut all: Vec<(f64, String)> = Vec::new();
    for summary in summaries {
        let lines = summary.outliers.iter().map(|one| {
            let times = ratio(one.ratio);
            (
                one.ratio,
                format!("  {}: {}, {times} the median of {}\n", one.component, summary.metric, summary.group),
            )
        });
        all.extend(lines);
    }
    all.sort_by(|one, other| other.0.total_cmp(&one.0));
    if all.is_empty() {
        return "\nNo threshold is far above the others.\n".into();
    }
    let heading = "\nThresholds far above the others: were these components faulty?\n".to_owned();
    all.into_iter().take(MOST_NAMED).fold(heading, |text, (_, line)| text + &line)
}
