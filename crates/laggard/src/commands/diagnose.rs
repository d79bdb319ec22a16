//! `laggard diagnose`: which component slows the system down, and why?

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, value_parser};
use laggard_core::diagnosis::Warning;
use laggard_core::methods::choice::MethodName;
use laggard_core::model::metric::Metric;
use laggard_core::pipeline::{diagnose, threshold_warnings};
use laggard_core::recording::Recording;
use laggard_core::report::{Report, html, text, words};
use laggard_eval::power::diagnose_with_limits;
use laggard_store::dataset::Dataset;
use laggard_store::dataset_recording::DatasetRecording;
use tempfile::TempDir;

use super::{import, tables};
use crate::atomic_file::AtomicFile;
use crate::failure::{Done, Outcome, TooPoor, is_too_poor, tell};
use crate::method_options::MethodOptions;
use crate::output;
use crate::scores_file::{ScoreWriter, Scores};
use crate::timeframe::Timeframe;

/// Find the component that slows the system down, and show why.
///
/// Compares peers: servers, disks and links that should behave alike. Needs no thresholds and no training. Takes a
/// dataset, or recordings of other tools, which are imported on the fly.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard diagnose data
  laggard diagnose data --from -2h --html report.html
  laggard diagnose /var/log/sysstat/sa15
  laggard diagnose data --json | jq '.suspects[0]'
  laggard diagnose data --method production --thresholds trained.toml --scores scores.parquet
  laggard diagnose data --method testbench --set window=128 --set k=5
  laggard diagnose data --thresholds usual.toml

Exit status: 0 done, 1 suspects (with --exit-code), 2 usage or input error, 4 data too poor to evaluate.")]
pub(crate) struct Diagnose {
    /// The dataset, or files of other tools: sysstat's, iostat's, or CSV and Parquet with --map.
    #[arg(required = true, value_name = "DATASET|FILES")]
    input: Vec<PathBuf>,
    /// The cluster file. Default: cluster.toml in the dataset, or none.
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// The map file for CSV and Parquet: see docs/importing.md.
    #[arg(long, value_name = "MAP.toml")]
    map: Option<PathBuf>,
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    timeframe: Timeframe,
    /// Print JSON: see docs/diagnosis.md.
    #[arg(long)]
    json: bool,
    /// Write a page with pictures.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write every verdict, as .parquet or .csv.
    #[arg(long, value_name = "FILE")]
    scores: Option<PathBuf>,
    /// Exit with status 1 if there are suspects.
    #[arg(long)]
    exit_code: bool,
    /// Threads to use. Default: one for each processor.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=MOST_THREADS))]
    threads: Option<u16>,
    /// Show the time that each stage took.
    #[arg(long)]
    timings: bool,
}

/// More would only take memory.
const MOST_THREADS: i64 = 1024;

impl Diagnose {
    pub(crate) fn run(self) -> Outcome {
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads.into())
                .build_global()
                .context("--threads")?;
        }
        let page = self.html.as_deref().map(AtomicFile::create).transpose()?;
        let (report, done) = match self.report() {
            Ok(report) => report,
            Err(error) if is_too_poor(&error) => {
                let reason = format!("{error:#}");
                self.write(&Report::without_evaluation(self.method.name().as_str(), reason), page)?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        self.print(&report, page)?;
        if report.suspects.is_empty() && !report.can_tell() {
            bail!(TooPoor(words::verdict(&report)));
        }
        Ok(if self.exit_code && !report.suspects.is_empty() { Done::WithSuspects } else { done })
    }

    fn report(&self) -> anyhow::Result<(Report, Done)> {
        let scores = self.scores.as_deref().map(Scores::create).transpose()?;
        let input = Input::open(&self.input, self.map.as_deref())?;
        let mut recording =
            DatasetRecording::open(input.dataset, self.cluster.as_deref(), self.timeframe.ends()?)?;
        let choice = self.method.parsed()?;
        let method = choice.method(recording.times().length()?, scores.is_some())?;
        let mut observer = ScoreWriter::new(scores);
        let report = if self.measures_limits() {
            diagnose_with_limits(&mut recording, &*method, &mut observer)
        } else {
            diagnose(&mut recording, &*method, &mut observer)
        };
        let timings = observer.finish()?;
        let mut report = report?;
        report.timings = self.timings.then_some(timings);
        let metrics: Vec<&'static Metric> = report
            .groups
            .iter()
            .filter(|group| group.is_evaluated)
            .flat_map(|g| method.metrics(&g.kind))
            .collect();
        threshold_warnings(&choice, &metrics).iter().for_each(|warning| report.warn(warning));
        if input.failed > 0 {
            report.warn(&Warning::NotImported { files: input.failed });
        }
        let is_whole = input.failed == 0 && !recording.has_problems();
        Ok((report, if is_whole { Done::Well } else { Done::WithErrors }))
    }

    /// Limits are those of the default method on one recording.
    fn measures_limits(&self) -> bool {
        self.method.name() == MethodName::Laggard && self.input.len() == 1
    }

    /// Writes the page and the JSON form, where they are wanted.
    fn write(&self, report: &Report, page: Option<AtomicFile>) -> anyhow::Result<()> {
        page.map_or(Ok(()), |page| page.write(&html::page(report)))?;
        if self.json { output::json(report) } else { Ok(()) }
    }

    fn print(&self, report: &Report, page: Option<AtomicFile>) -> anyhow::Result<()> {
        self.write(report, page)?;
        if self.json {
            return Ok(());
        }
        print(report)?;
        if let Some(path) = &self.html {
            tell(format_args!("with pictures: {}", path.display()));
        }
        Ok(())
    }
}

struct Input {
    dataset: Dataset,
    /// Contains the dataset if it was made from files.
    _temporary: Option<TempDir>,
    /// Files that could not be imported, or not to their end.
    failed: u64,
}

impl Input {
    /// Opens the dataset, or imports the files into a temporary one.
    fn open(input: &[PathBuf], map: Option<&Path>) -> anyhow::Result<Input> {
        if let [one] = input
            && map.is_none()
            && let Some(dataset) = dataset(one)?
        {
            return Ok(Input { dataset, _temporary: None, failed: 0 });
        }
        if let Some(path) = input.iter().find(|path| matches!(dataset(path), Ok(Some(_)))) {
            bail!("{}: a dataset is diagnosed by itself: neither with others nor with --map", path.display());
        }
        let folder = tempfile::tempdir().context("a temporary folder")?;
        let failed = import::on_the_fly(input, map, folder.path())?;
        Ok(Input { dataset: Dataset::in_folder(folder.path()), _temporary: Some(folder), failed })
    }
}

/// The dataset at a path; nothing if it is not a dataset.
fn dataset(path: &Path) -> anyhow::Result<Option<Dataset>> {
    if let Some(location) = path.to_str().filter(|text| text.contains("://")) {
        return tables::open(location).map(Some);
    }
    if !path.exists() {
        bail!(
            "{}: no such dataset or file: make one with `laggard record` or `laggard import`",
            path.display()
        );
    }
    let dataset = Dataset::in_folder(path);
    let is_one = path.is_dir() && !dataset.segments()?.segments.is_empty();
    if path.is_dir() && !is_one && path.read_dir()?.next().is_none() {
        bail!(tables::empty());
    }
    Ok(is_one.then_some(dataset))
}

/// Prints a report to the terminal.
pub(crate) fn print(report: &Report) -> anyhow::Result<()> {
    let width = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
    // Colours are removed again where standard output is not a terminal.
    let text = text::render(report, text::Layout { width, has_colours: true });
    let mut out = output::stdout();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
