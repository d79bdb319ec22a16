//! The study `drives`: scores of windows, and the faulty components that the report names after some minutes or hours of data.

use crate::scoring::prefix::Prefix;
use crate::scoring::reported::{Reported, begins_within};
use crate::scoring::sampled_time::SampledTime;
use crate::scoring::scored_method::ScoredMethod;
use crate::scoring::scoring_run::{Plan, Score, ScoringRun};
use crate::scoring::stream::{Delay, FirstReports, StreamScores, per_1000_days};
use crate::scoring::truth::Truth;
use crate::scoring::window_means::{MeanCollector, WindowMeans};
use crate::scoring::windows::WrongVerdict;
use laggard_core::diagnosis::{Suspect, Warning};
use laggard_core::model::cluster::Inventory;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::Span;
use laggard_core::report::warning_texts::remark;

use super::datasets::LabelledDataset;
use super::document::{Document, DriveScore, DriveSet, WrongWindow};
use super::{Progress, Task, truth, visit};
use laggard_core::methods::Method;
use laggard_core::pipeline::{NoObserver, PipelineError, diagnose};
use laggard_core::recording::Recording;
use laggard_store::dataset_recording::DatasetRecording;

/// Checkpoints, in minutes of data.
const BEGINNINGS: [i64; 4] = [5, 15, 60, 180];
/// Multiples of the default threshold.
const SCALES: [f64; 16] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0, 3.0];

pub(super) fn evaluate(
    task: &Task,
    labelled: &[LabelledDataset],
    document: &mut Document,
    progress: &Progress<'_>,
) -> anyhow::Result<()> {
    let plan = Plan {
        methods: task.methods.clone(),
        lengths: task.lengths.clone(),
        step: task.step,
        settings: task.settings,
        beginnings: BEGINNINGS.map(|minutes| Span::from_seconds(60 * minutes)).to_vec(),
        scales: if task.is_swept { SCALES.to_vec() } else { Vec::new() },
        budget: task.budget,
        trained: Vec::new(),
    };
    for one in labelled {
        let plan = Plan { trained: task.trained(one), ..plan.clone() };
        let set = of_dataset(task, &plan, one, document, progress)?;
        document.drives.push(set);
    }
    Ok(())
}

fn of_dataset(
    task: &Task,
    plan: &Plan,
    one: &LabelledDataset,
    document: &mut Document,
    progress: &Progress<'_>,
) -> anyhow::Result<DriveSet> {
    let mut recording = task.open(one)?;
    let (truth, warnings) = truth(&recording, one);
    document.warnings.extend(warnings);
    let (inventory, span) = (recording.inventory().clone(), recording.times().length()?);
    let mut scoring_run =
        ScoringRun::new(&inventory, &truth, plan, recording.times().longest_interval, span)?;
    run(&mut recording, &mut scoring_run, &one.location, progress)?;
    let scores = scoring_run.scores();
    let mut streams = Vec::new();
    for score in &scores {
        let scope = (&truth, scoring_run.sampled_time());
        let reported = reported(task, score.scored_method, one, &mut recording, scope, progress)?;
        streams.push(stream(&reported, &score.first_reports, scope));
    }
    let all: Vec<WrongVerdict> =
        scores.iter().flat_map(|score| score.missed.iter().chain(&score.mistaken)).copied().collect();
    let mut measured = measured(&mut recording, &inventory, &all)?.into_iter();
    document
        .warnings
        .extend(recording.problems().into_iter().map(|problem| remark(&Warning::Unreadable { problem })));
    Ok(DriveSet {
        dataset: one.location.clone(),
        components: scoring_run.sampled_time().sampled_components().count(),
        component_days: scoring_run.sampled_time().component_days(),
        labelled: truth.faults.len(),
        budget: plan.budget,
        methods: scores
            .into_iter()
            .zip(streams)
            .map(|(score, stream)| drive_score(score, stream, &inventory, &mut measured))
            .collect(),
    })
}

fn run(
    recording: &mut DatasetRecording,
    scoring_run: &mut ScoringRun,
    name: &str,
    progress: &Progress<'_>,
) -> anyhow::Result<()> {
    for step in scoring_run.steps() {
        let message = format!("{name}, every {step}");
        visit(recording, &scoring_run.metrics(step), step, &mut |tables, done| {
            scoring_run.take(step, tables);
            progress(&message, done);
        })?;
    }
    scoring_run.finish();
    Ok(())
}

/// Reads the recording again, for the means of the windows with wrong verdicts.
fn measured(
    recording: &mut DatasetRecording,
    inventory: &Inventory,
    wrong: &[WrongVerdict],
) -> anyhow::Result<Vec<WindowMeans>> {
    let mut window_means = MeanCollector::new(inventory, wrong);
    let mut metrics: Vec<&'static Metric> = Vec::new();
    for metric in wrong.iter().map(|wrong| wrong.metric.metric()) {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    if !metrics.is_empty() {
        let step = recording.times().longest_interval;
        visit(recording, &metrics, step, &mut |tables, _| {
            tables.iter().for_each(|table| window_means.take(table))
        })?;
    }
    Ok(window_means.measured())
}

/// The suspects after each checkpoint, and those of the whole recording.
type ReportedAfter = Vec<(Option<Span>, Reported)>;

/// Runs the whole diagnosis with the beginning of the recording only. Peers are selected by all of it.
fn reported(
    task: &Task,
    scored_method: ScoredMethod,
    one: &LabelledDataset,
    recording: &mut DatasetRecording,
    (truth, sampled_time): (&Truth, &SampledTime),
    progress: &Progress<'_>,
) -> anyhow::Result<ReportedAfter> {
    let (inventory, whole) = (recording.inventory().clone(), recording.times().length()?);
    let beginnings = BEGINNINGS.map(|minutes| Span::from_seconds(60 * minutes)).into_iter();
    let beginnings: Vec<Option<Span>> =
        beginnings.filter(|beginning| *beginning < whole).map(Some).chain([None]).collect();
    let mut reported = Vec::new();
    for (number, &beginning) in beginnings.iter().enumerate() {
        let message = format!("{}, reports of {}", one.location, scored_method.as_str());
        progress(&message, number as f64 / beginnings.len() as f64);
        let method = task.method(scored_method, one, beginning.unwrap_or(whole), &task.lengths)?;
        let method: Box<dyn Method> = match beginning {
            Some(span) => Box::new(Prefix { method, span }),
            None => method,
        };
        let suspects = match diagnose(recording, &*method, &mut NoObserver) {
            Ok(report) => report.suspects.iter().flat_map(Suspect::incidents).collect(),
            Err(PipelineError::TooPoor(_)) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let seen = suspects.iter().filter(|one| begins_within(one, beginning, &inventory, sampled_time));
        reported.push((beginning, Reported::of(seen, truth, &inventory)));
    }
    Ok(reported)
}

fn stream(
    reported: &ReportedAfter,
    first_reports: &FirstReports,
    (truth, sampled_time): (&Truth, &SampledTime),
) -> StreamScores {
    let is_reported = |fault: &usize| reported.iter().any(|(_, reported)| reported.faults.contains(fault));
    let first_reports =
        first_reports.iter().filter(|(fault, _)| is_reported(fault)).map(|(&fault, &first)| (fault, first));
    let whole = reported.last().map(|(_, reported)| reported);
    let false_alarms = whole.map_or(0, |whole| whole.mistaken.len());
    StreamScores {
        checkpoints: reported.iter().map(|(after, reported)| reported.checkpoint(truth, *after)).collect(),
        false_alarms_per_1000_component_days: per_1000_days(false_alarms, sampled_time.component_days()),
        delay: Delay::new(&first_reports.collect(), truth, sampled_time),
        component_mcc: whole.and_then(|whole| whole.by_component(truth, sampled_time).mcc()),
    }
}

fn drive_score(
    score: Score,
    stream: StreamScores,
    inventory: &Inventory,
    measured: &mut dyn Iterator<Item = WindowMeans>,
) -> DriveScore {
    let mut window = |wrong: &WrongVerdict| {
        let WindowMeans { own, peers } = measured.next().unwrap_or(WindowMeans { own: None, peers: None });
        WrongWindow {
            component: inventory.components[wrong.component].name.clone(),
            metric: wrong.metric,
            start: wrong.window.start,
            length: wrong.window.length,
            score: wrong.verdict.score,
            threshold: wrong.verdict.threshold,
            value: own,
            peers,
            unit: wrong.metric.metric().unit.symbol(),
        }
    };
    DriveScore {
        method: score.scored_method.as_str(),
        windows: score.windows,
        stream,
        curve: score.curve,
        at_budget: score.at_budget,
        missed: score.missed.iter().map(&mut window).collect(),
        mistaken: score.mistaken.iter().map(&mut window).collect(),
    }
}
