//! `laggard power`: the slowdowns that a diagnosis of this recording would report.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, value_parser};
use laggard_core::recording::Recording;
use laggard_core::report::limit_texts::{magnitude, whole_or_span};
use laggard_core::report::number::count;
use laggard_eval::overlay::Pattern;
use laggard_eval::power::{
    GroupPower, OverlayResult, Power as Limits, PowerError, PowerSettings, check_with_overlays, measure, page,
};
use laggard_store::dataset::Dataset;
use laggard_store::dataset_recording::DatasetRecording;

use super::tables;
use crate::atomic_file::AtomicFile;
use crate::failure::{Done, Outcome, TooPoor, is_too_poor, tell};
use crate::method_options::MethodOptions;
use crate::timeframe::Timeframe;
use crate::{output, progress};

/// Measure which slowdowns of a disk a diagnosis of this dataset would report.
///
/// Adds virtual slowdowns to single disks of the recording, in memory, and diagnoses it again: several factors, durations
/// and patterns, on several disks and at several times. The dataset is not changed. docs/power.md explains the tables.
#[derive(Args)]
#[command(after_help = "\
Examples:
  laggard power data
  laggard power data --from -1d --html power.html
  laggard power data --trials 20 --overlays 200
  laggard power data --trials 20 --json | jq -r '.groups[].limits[] | [.pattern, .duration_seconds, .magnitude] | @tsv'

Exit status: 0 done, 2 usage or input error, 4 data too poor to evaluate.")]
pub(crate) struct Power {
    /// The dataset: a folder, or an object-store prefix.
    dataset: String,
    /// The cluster file. Default: cluster.toml in the dataset, or none.
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    timeframe: Timeframe,
    /// Trials of each pattern and duration, on different disks and at different times.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u16).range(1..=1000))]
    trials: u16,
    /// The seed that disks and times are drawn with.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Compare the limits with N overlays: copies in a temporary folder, each with a slower disk, diagnosed like any dataset.
    #[arg(long, value_name = "N", default_value_t = 0)]
    overlays: usize,
    /// Print JSON: see docs/power.md.
    #[arg(long)]
    json: bool,
    /// Write a page with pictures.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Power {
    pub(crate) fn run(self) -> Outcome {
        let file = self.html.as_deref().map(AtomicFile::create).transpose()?;
        let limits = match self.limits() {
            Ok(limits) => limits,
            Err(error) if is_too_poor(&error) => {
                let reason = format!("{error:#}");
                self.write(&Limits::without_evaluation(self.method.name().as_str(), reason), file)?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        self.write(&limits, file)?;
        if !self.json {
            limits.groups.iter().try_for_each(print)?;
            print_overlays(&limits.overlays)?;
        }
        Ok(Done::Well)
    }

    fn limits(&self) -> anyhow::Result<Limits> {
        let (dataset, ends) = (tables::open(&self.dataset)?, self.timeframe.ends()?);
        let open = |dataset: Dataset| {
            let recording = DatasetRecording::open(dataset, self.cluster.as_deref(), ends)?;
            Ok(recording.without_feedback())
        };
        let mut recording = open(dataset.clone())?;
        let method = self.method.parsed()?.method(recording.times().length()?, false)?;
        let settings = PowerSettings { trials: self.trials.into(), seed: self.seed };
        let bar = progress::over_trials();
        let show = |trials| {
            bar.set_length(trials as u64);
            bar.inc(1);
        };
        let limits = measure(&mut recording, &*method, settings, &show);
        bar.finish_and_clear();
        recording.problems().iter().for_each(tell);
        let mut limits = match limits {
            Err(PowerError::Pipeline(error)) => return Err(error.into()),
            Err(error @ PowerError::NoDisk) => bail!(TooPoor(error.to_string())),
            Ok(limits) => limits,
        };
        if self.overlays > 0 {
            bar.reset();
            let predicted = (&limits, settings);
            limits.overlays =
                check_with_overlays(&dataset, &open, &*method, predicted, self.overlays, &show)?;
            bar.finish_and_clear();
        }
        Ok(limits)
    }

    /// Writes the page and the JSON form, where they are wanted.
    fn write(&self, limits: &Limits, file: Option<AtomicFile>) -> anyhow::Result<()> {
        file.map_or(Ok(()), |file| file.write(&page(limits)))?;
        if self.json { output::json(limits) } else { Ok(()) }
    }
}

/// Prints the smallest magnitude found for each pattern and duration.
fn print(group: &GroupPower) -> anyhow::Result<()> {
    let of_pattern = |pattern| group.limits.iter().filter(move |limit| limit.pattern == pattern);
    let durations = of_pattern(Pattern::Constant);
    let durations: Vec<String> =
        durations.map(|limit| whole_or_span(limit.duration_seconds, limit.is_whole)).collect();
    let heading: Vec<&str> = ["pattern"].into_iter().chain(durations.iter().map(String::as_str)).collect();
    let mut table = output::table(&heading, &(1..heading.len()).collect::<Vec<_>>());
    for pattern in Pattern::ALL {
        let found =
            of_pattern(pattern).map(|l| l.magnitude.map_or("-".into(), |found| magnitude(pattern, found)));
        table.add_row([pattern.as_str().to_owned()].into_iter().chain(found));
    }
    let mut out = output::stdout();
    let (members, groups) = (count(group.members, "member"), count(group.peer_groups, "peer group"));
    writeln!(out, "{} ({members} of {groups})\n{}", group.name, group.summary)?;
    out.flush()?;
    drop(out);
    output::print(&table)?;
    let times = group.detection_times.iter().filter(|time| time.pattern == Pattern::Constant);
    let times: Vec<String> = times
        .map(|time| {
            let after = whole_or_span(time.duration_seconds, false);
            format!("{} after {after}", magnitude(time.pattern, time.magnitude))
        })
        .collect();
    if !times.is_empty() {
        writeln!(output::stdout(), "time to detection: {}\n", times.join(", "))?;
    }
    Ok(())
}

/// Prints how often overlays were found where the limits predict it, and where they do not.
fn print_overlays(overlays: &[OverlayResult]) -> anyhow::Result<()> {
    if overlays.is_empty() {
        return Ok(());
    }
    let mut table = output::table(&["overlays", "diagnosed", "found", "expected"], &[1, 2, 3]);
    for (name, is_predicted) in [("at or above a limit", true), ("below", false)] {
        let own = || overlays.iter().filter(move |overlay| overlay.is_predicted == is_predicted);
        let found = own().filter(|overlay| overlay.is_found).count();
        let expected: f64 = own().map(|overlay| overlay.cell.found as f64 / overlay.cell.trials as f64).sum();
        let row = [name.to_owned(), own().count().to_string(), found.to_string(), format!("{expected:.1}")];
        table.add_row(row);
    }
    Ok(output::print(&table)?)
}
