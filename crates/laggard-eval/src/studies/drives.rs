//! The study `drives`: scores of windows, and the faulty components that reports name after some minutes or hours of data.

use crate::scoring::prefix::Prefix;
use crate::scoring::reliability::Verdict;
use crate::scoring::reported::{Reported, begins_within};
use crate::scoring::sampled_time::SampledTime;
use crate::scoring::scored_method::{RunSettings, ScoredMethod};
use crate::scoring::scoring_run::{Plan, ScoringRun};
use crate::scoring::stream::{Checkpoint, Delay, Point, StreamScores, per_1000_days};
use crate::scoring::truth::{LabelledFault, Truth};
use crate::scoring::window_means::{MeanCollector, WindowMeans};
use crate::scoring::windows::WrongVerdict;
use laggard_core::diagnosis::{Suspect, Warning};
use laggard_core::model::cluster::Inventory;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::report::warning_texts::remark;

use super::datasets::LabelledDataset;
use super::document::{Document, DriveScore, DriveSet, WrongWindow};
use super::{Progress, Task, suspects, visit};
use laggard_core::methods::Method;
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
) -> anyhow::Result<Vec<Vec<Verdict>>> {
    let mut verdicts = vec![Vec::new(); task.methods.len()];
    for one in labelled {
        let set = of_dataset(task, one, &mut verdicts, document, progress)?;
        document.drives.push(set);
    }
    Ok(verdicts)
}

fn of_dataset(
    task: &Task,
    one: &LabelledDataset,
    verdicts: &mut [Vec<Verdict>],
    document: &mut Document,
    progress: &Progress<'_>,
) -> anyhow::Result<DriveSet> {
    let mut recording = task.open(one)?;
    let (truth, warnings) = task.truth(&recording, one)?;
    document.warnings.extend(warnings);
    let (inventory, span) = (recording.inventory().clone(), recording.times().length()?);
    let plan = Plan {
        methods: task.methods.clone(),
        lengths: task.lengths.clone(),
        step: task.step,
        settings: task.settings,
        trained: task.trained(one),
    };
    let mut scoring_run =
        ScoringRun::new(&inventory, &truth, &plan, recording.times().longest_interval, span)?;
    run(&mut recording, &mut scoring_run, &one.location, progress)?;
    let (scores, sampled_time) = (scoring_run.scores(), scoring_run.sampled_time());
    let all: Vec<WrongVerdict> =
        scores.iter().flat_map(|score| score.missed.iter().chain(&score.mistaken)).copied().collect();
    let mut measured = measured(&mut recording, &inventory, &all)?.into_iter();
    let mut reports = Reports { task, one, recording: &mut recording, truth: &truth, sampled_time, progress };
    let mut methods = Vec::new();
    for (score, verdicts) in scores.into_iter().zip(verdicts) {
        let reported = reports.of(score.scored_method, 1.0)?;
        verdicts.extend(reported.iter().flat_map(|(_, reported)| &reported.verdicts));
        let curve = reports.curve(score.scored_method)?;
        methods.push(DriveScore {
            method: score.scored_method.as_str(),
            windows: score.windows,
            stream: stream(&reported, &truth, sampled_time),
            at_budget: curve.iter().find(|point| is_within(point, task.budget)).cloned(),
            curve,
            missed: described(&score.missed, &inventory, &mut measured),
            mistaken: described(&score.mistaken, &inventory, &mut measured),
        });
    }
    document
        .warnings
        .extend(recording.problems().into_iter().map(|problem| remark(&Warning::Unreadable { problem })));
    Ok(DriveSet {
        dataset: one.location.clone(),
        components: sampled_time.sampled_components().count(),
        component_days: sampled_time.component_days(),
        labelled: truth.faults.len(),
        budget: task.budget,
        methods,
    })
}

fn is_within(point: &Point, budget: f64) -> bool {
    point.false_alarms_per_1000_component_days <= budget
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

/// The reports of one recording.
struct Reports<'a> {
    task: &'a Task,
    one: &'a LabelledDataset,
    recording: &'a mut DatasetRecording,
    truth: &'a Truth,
    sampled_time: &'a SampledTime,
    progress: &'a Progress<'a>,
}

impl Reports<'_> {
    /// Runs the whole diagnosis with the beginning of the recording only. Peers are selected by all of it.
    fn of(&mut self, scored_method: ScoredMethod, scale: f64) -> anyhow::Result<ReportedAfter> {
        let (inventory, whole) = (self.recording.inventory().clone(), self.recording.times().length()?);
        let beginnings = BEGINNINGS.map(|minutes| Span::from_seconds(60 * minutes)).into_iter();
        let beginnings: Vec<Option<Span>> =
            beginnings.filter(|beginning| *beginning < whole).map(Some).chain([None]).collect();
        let message = format!("{}, reports of {}", self.one.location, scored_method.as_str());
        let mut reported = Vec::new();
        for (number, &beginning) in beginnings.iter().enumerate() {
            (self.progress)(&message, number as f64 / beginnings.len() as f64);
            let run = RunSettings { scale, ..self.task.run(beginning.unwrap_or(whole), &self.task.lengths) };
            let method = self.task.method(scored_method, self.one, &run)?;
            let method: Box<dyn Method> = match beginning {
                Some(span) => Box::new(Prefix { method, span }),
                None => method,
            };
            let suspects = suspects(self.recording, &*method)?;
            let is_seen = |one: &&Suspect| begins_within(one, beginning, &inventory, self.sampled_time);
            let seen = suspects.iter().filter(is_seen);
            reported.push((beginning, Reported::of(seen, self.truth, &inventory)));
        }
        Ok(reported)
    }

    /// The results with other thresholds, lowest first; empty if they are not asked for, or need training.
    fn curve(&mut self, scored_method: ScoredMethod) -> anyhow::Result<Vec<Point>> {
        let scales = if self.task.is_swept && scored_method.can_be_swept() { &SCALES[..] } else { &[] };
        scales.iter().map(|&scale| self.point(scored_method, scale)).collect()
    }

    fn point(&mut self, scored_method: ScoredMethod, scale: f64) -> anyhow::Result<Point> {
        let reported = self.of(scored_method, scale)?;
        Ok(Point {
            scale,
            false_alarms_per_1000_component_days: false_alarm_rate(&reported, self.sampled_time),
            checkpoints: checkpoints(&reported, self.truth),
        })
    }
}

fn checkpoints(reported: &ReportedAfter, truth: &Truth) -> Vec<Checkpoint> {
    reported.iter().map(|(after, reported)| reported.checkpoint(truth, *after)).collect()
}

/// Of the whole recording's report.
fn false_alarm_rate(reported: &ReportedAfter, sampled_time: &SampledTime) -> f64 {
    let false_alarms = reported.last().map_or(0, |(_, whole)| whole.mistaken.len());
    per_1000_days(false_alarms, sampled_time.component_days())
}

fn stream(reported: &ReportedAfter, truth: &Truth, sampled_time: &SampledTime) -> StreamScores {
    let delays = (0..truth.faults.len()).filter_map(|fault| delay(fault, reported, truth, sampled_time));
    let whole = reported.last().map(|(_, reported)| reported);
    StreamScores {
        checkpoints: checkpoints(reported, truth),
        false_alarms_per_1000_component_days: false_alarm_rate(reported, sampled_time),
        delay: Delay::new(delays.collect(), truth.faults.len()),
        component_mcc: whole.and_then(|whole| whole.by_component(truth, sampled_time).mcc()),
    }
}

/// The sampled time from the begin of a fault to the first checkpoint whose report names it.
fn delay(fault: usize, reported: &ReportedAfter, truth: &Truth, sampled_time: &SampledTime) -> Option<Span> {
    let (after, _) = reported.iter().find(|(_, reported)| reported.faults.contains(&fault))?;
    let LabelledFault { label, members } = &truth.faults[fault];
    let group = members.iter().find_map(|&member| sampled_time.group(member))?;
    let until = |end| sampled_time.between(group, Timestamp::MIN, end);
    let after = after.unwrap_or_else(|| until(Timestamp::MAX));
    let before = label.begin.map_or(Span::ZERO, until);
    Some((after + before * -1).max(Span::ZERO))
}

fn described(
    wrong: &[WrongVerdict],
    inventory: &Inventory,
    measured: &mut dyn Iterator<Item = WindowMeans>,
) -> Vec<WrongWindow> {
    let window = |wrong: &WrongVerdict| {
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
    wrong.iter().map(window).collect()
}
