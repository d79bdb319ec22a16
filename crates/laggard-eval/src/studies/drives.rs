//! Components that are in trouble, or not: windows, and who is named how soon.

use crate::scoring::contest::{Contest, Plan, Score};
use crate::scoring::gauge::{Gauge, Measured};
use crate::scoring::windows::Wrong;
use laggard_core::diagnosis::Warning;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::metric::Metric;
use laggard_core::model::time::Span;
use laggard_core::report::warning_texts::remark;

use super::datasets::Labelled;
use super::document::{Document, DriveScore, DriveSet, WrongWindow};
use super::{Progress, Task, truth, visit};
use laggard_core::recording::Recording;
use laggard_store::dataset_recording::DatasetRecording;

/// After how much data it is asked who is named: minutes.
const BEGINNINGS: [i64; 4] = [5, 15, 60, 180];
/// Thresholds that are tried, as multiples of the usual ones.
const SCALES: [f64; 16] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0, 3.0];

/// Scores methods on each dataset.
pub(super) fn evaluate(
    task: &Task,
    labelled: &[Labelled],
    document: &mut Document,
    progress: &Progress<'_>,
) -> anyhow::Result<()> {
    let plan = Plan {
        entrants: task.entrants.clone(),
        lengths: task.lengths.clone(),
        step: task.step,
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
    one: &Labelled,
    document: &mut Document,
    progress: &Progress<'_>,
) -> anyhow::Result<DriveSet> {
    let mut recording = task.open(one)?;
    let (truth, warnings) = truth(&recording, one);
    document.warnings.extend(warnings);
    let (inventory, span) = (recording.inventory().clone(), recording.times().length()?);
    let mut contest = Contest::new(&inventory, &truth, plan, recording.times().longest_interval, span);
    run(&mut recording, &mut contest, &one.location, progress)?;
    let scores = contest.scores();
    let all: Vec<Wrong> =
        scores.iter().flat_map(|score| score.missed.iter().chain(&score.mistaken)).copied().collect();
    let mut measured = measured(&mut recording, &inventory, &all)?.into_iter();
    document
        .warnings
        .extend(recording.problems().into_iter().map(|problem| remark(&Warning::Unreadable { problem })));
    Ok(DriveSet {
        dataset: one.location.clone(),
        components: contest.covered().sampled_components().count(),
        component_days: contest.covered().component_days(),
        labelled: truth.troubles.len(),
        budget: plan.budget,
        methods: scores.into_iter().map(|score| told(score, &inventory, &mut measured)).collect(),
    })
}

/// Shows the recording to all methods.
fn run(
    recording: &mut DatasetRecording,
    contest: &mut Contest,
    name: &str,
    progress: &Progress<'_>,
) -> anyhow::Result<()> {
    for step in contest.steps() {
        let message = format!("{name}, every {step}");
        visit(recording, &contest.metrics(step), step, &mut |tables, done| {
            contest.take(step, tables);
            progress(&message, done);
        })?;
    }
    contest.finish();
    Ok(())
}

/// Looks once more at the windows that were told wrongly.
fn measured(
    recording: &mut DatasetRecording,
    inventory: &Inventory,
    wrong: &[Wrong],
) -> anyhow::Result<Vec<Measured>> {
    let mut gauge = Gauge::new(inventory, wrong);
    let mut metrics: Vec<&'static Metric> = Vec::new();
    for metric in wrong.iter().map(|wrong| wrong.metric.metric()) {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    if !metrics.is_empty() {
        let step = recording.times().longest_interval;
        visit(recording, &metrics, step, &mut |tables, _| tables.iter().for_each(|table| gauge.take(table)))?;
    }
    Ok(gauge.measured())
}

fn told(score: Score, inventory: &Inventory, measured: &mut dyn Iterator<Item = Measured>) -> DriveScore {
    let mut window = |wrong: &Wrong| {
        let Measured { own, peers } = measured.next().unwrap_or(Measured { own: None, peers: None });
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
        method: score.entrant.as_str(),
        windows: score.windows,
        stream: score.stream,
        curve: score.curve,
        at_budget: score.at_budget,
        missed: score.missed.iter().map(&mut window).collect(),
        mistaken: score.mistaken.iter().map(&mut window).collect(),
    }
}
