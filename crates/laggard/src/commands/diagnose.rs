//! `laggard diagnose`: who holds the system back, why, and how do we know?

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, value_parser};
use indicatif::ProgressBar;
use laggard_core::examination::Examined;
use laggard_core::methods::Method;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::metric::Metric;
use laggard_core::report::{Pictures, Report, SCHEMA, html, text, words};
use laggard_store::dataset::Dataset;
use tempfile::TempDir;

use super::{import, tables};
use crate::atomic_file::AtomicFile;
use crate::choosing::Choice;
use crate::diagnosing::{Watcher, diagnose};
use crate::examining::Recording;
use crate::failure::{Done, Outcome, TooPoor, tell};
use crate::scores::Scores;
use crate::timeframe::Timeframe;
use crate::{limits, output, progress};

/// Find the component that holds the system back, and say why.
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

Exit status: 0 done, 1 suspects (with --exit-code), 2 usage or input error, 4 data too poor to judge.")]
pub struct Diagnose {
    /// The dataset, or files of other tools: sysstat's, iostat's, or CSV and Parquet with --map.
    #[arg(required = true, value_name = "DATASET|FILES")]
    input: Vec<PathBuf>,
    /// The cluster file. Default: cluster.toml in the dataset, or none.
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// How to read CSV and Parquet: see docs/importing.md.
    #[arg(long, value_name = "MAP.toml")]
    map: Option<PathBuf>,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    timeframe: Timeframe,
    /// As JSON: see docs/diagnosis.md.
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
    /// Tell how long the stages took.
    #[arg(long)]
    timings: bool,
}

/// More would only take memory.
const MOST_THREADS: i64 = 1024;

impl Diagnose {
    pub fn run(self) -> Outcome {
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads.into())
                .build_global()
                .context("--threads")?;
        }
        let page = self.html.as_deref().map(AtomicFile::create).transpose()?;
        let (report, done) = match self.report() {
            Ok(judged) => judged,
            Err(error) if error.is::<TooPoor>() => {
                self.write(&self.unjudged(&error), page)?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        self.tell(&report, page)?;
        if !words::is_judged(&report) {
            bail!(TooPoor("nobody was judged".into()));
        }
        Ok(if self.exit_code && !report.suspects.is_empty() { Done::WithSuspects } else { done })
    }

    /// Who is suspected, and whether all could be read.
    fn report(&self) -> anyhow::Result<(Report, Done)> {
        let scores = self.scores.as_deref().map(Scores::create).transpose()?;
        let input = Input::open(&self.input, self.map.as_deref())?;
        let mut recording = Recording::open(input.dataset, self.cluster.as_deref(), self.timeframe.ends()?)?;
        let method = self.choice.method(recording.span()?, scores.is_some())?;
        let mut watching = Watching { scores, bar: progress::over_shares() };
        let report = diagnose(&mut recording, &*method, &mut watching);
        watching.bar.finish_and_clear();
        let mut report = report?;
        watching.scores.map_or(Ok(()), Scores::finish)?;
        self.remark(&mut report, &*method, input.failed)?;
        let done = if input.failed > 0 { Done::WithErrors } else { recording.done() };
        Ok((report, done))
    }

    /// The report where the data are too poor for one.
    fn unjudged(&self, reason: &anyhow::Error) -> Report {
        Report {
            schema: SCHEMA,
            method: self.choice.name(),
            from: None,
            to: None,
            suspects: Vec::new(),
            groups: Vec::new(),
            warnings: vec![limits::too_poor(reason)],
            timings: None,
            pictures: Pictures::default(),
        }
    }

    /// What the report cannot know.
    fn remark(&self, report: &mut Report, method: &dyn Method, failed: u64) -> anyhow::Result<()> {
        let judged = report.groups.iter().filter(|group| group.judged);
        let metrics: Vec<&'static Metric> = judged.flat_map(|group| method.metrics(&group.kind)).collect();
        report.warnings.extend(limits::lacking(&self.choice.lacking(&metrics)?));
        if self.choice.is_untrained() {
            report.warnings.push(limits::untrained(&report.method));
        }
        if failed > 0 {
            report.warnings.push(limits::unimported(failed));
        }
        if !self.timings {
            report.timings = None;
        }
        Ok(())
    }

    /// Writes what programs and browsers read.
    fn write(&self, report: &Report, page: Option<AtomicFile>) -> anyhow::Result<()> {
        page.map_or(Ok(()), |page| page.write(&html::page(report)))?;
        if self.json { output::json(report) } else { Ok(()) }
    }

    fn tell(&self, report: &Report, page: Option<AtomicFile>) -> anyhow::Result<()> {
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

/// What is diagnosed.
struct Input {
    dataset: Dataset,
    /// Holds the dataset, where it was made for this.
    _temporary: Option<TempDir>,
    /// Files that could not be imported, or not to their end.
    failed: u64,
}

impl Input {
    /// The dataset; one made of the files, in a temporary folder, if it is none.
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

/// What lies there, if it is a dataset.
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
pub fn print(report: &Report) -> anyhow::Result<()> {
    let width = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
    // Colours are taken out again where standard output is no terminal.
    let told = text::render(report, text::Layout { width, has_colours: true });
    let mut out = output::stdout();
    out.write_all(told.as_bytes())?;
    Ok(out.flush()?)
}

/// Writes scores, and shows progress.
struct Watching {
    scores: Option<Scores>,
    bar: ProgressBar,
}

impl Watcher for Watching {
    fn judged(&mut self, inventory: &Inventory, examined: &[Examined]) -> anyhow::Result<()> {
        self.scores.as_mut().map_or(Ok(()), |scores| scores.write(inventory, examined))
    }

    fn progress(&mut self, done: f64) {
        self.bar.set_position((done * progress::SHARES as f64) as u64);
    }
}
