//! The study `events`: detected events of a production system, their latencies and incidents.

use std::ops::ControlFlow;

use crate::scoring::events::{EventResult, by_kind, event_result, events, reported_event};
use crate::scoring::sampled_time::SampledTime;
use crate::scoring::scored_method::ScoredMethod;
use crate::scoring::stream::{Alarms, per_1000_days};
use crate::scoring::truth::Truth;
use laggard_core::diagnosis::Cause;
use laggard_core::diagnosis::Suspect;
use laggard_core::evaluation::GroupScores;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::scores::Window;

use super::datasets::LabelledDataset;
use super::document::{Document, EventScore};
use super::{Progress, Task, truth, visit};
use laggard_core::pipeline::{Observer, diagnose};
use laggard_core::recording::Recording;
use laggard_store::dataset_recording::DatasetRecording;

/// Totals of one method over all datasets.
#[derive(Default)]
struct Tally {
    results: Vec<EventResult>,
    other_incidents: usize,
    false_alarms: usize,
    component_days: f64,
}

pub(super) fn evaluate(
    task: &Task,
    labelled: &[LabelledDataset],
    document: &mut Document,
    progress: &Progress<'_>,
) -> anyhow::Result<()> {
    let mut tallies: Vec<Tally> = task.methods.iter().map(|_| Tally::default()).collect();
    for one in labelled {
        let mut recording = task.open(one)?;
        let (truth, warnings) = truth(&recording, one);
        let truth = truth.with_redundant_paths(recording.inventory());
        document.warnings.extend(warnings);
        let component_days = component_days(&mut recording)?;
        for (&scored_method, tally) in task.methods.iter().zip(&mut tallies) {
            tally.component_days += component_days;
            score_method(task, scored_method, one, &mut recording, &truth, (tally, progress))?;
        }
    }
    let score = |(scored_method, tally): (&ScoredMethod, Tally)| EventScore {
        method: scored_method.as_str(),
        kinds: by_kind(&tally.results),
        results: tally.results,
        other_incidents: tally.other_incidents,
        false_alarms: tally.false_alarms,
        false_alarms_per_1000_component_days: per_1000_days(tally.false_alarms, tally.component_days),
    };
    document.events.extend(task.methods.iter().zip(tallies).map(score));
    Ok(())
}

fn score_method(
    task: &Task,
    scored_method: ScoredMethod,
    one: &LabelledDataset,
    recording: &mut DatasetRecording,
    truth: &Truth,
    (tally, progress): (&mut Tally, &Progress<'_>),
) -> anyhow::Result<()> {
    let method = task.method(scored_method, one, recording.times().length()?, &task.lengths)?;
    let message = format!("{}, {}", one.location, scored_method.as_str());
    let mut counter = AlarmCounter { truth, alarms: Alarms::default(), message, progress };
    let report = diagnose(recording, &*method, &mut counter)?;
    let first = report.from.unwrap_or(Timestamp::MIN);
    let recorded = Window { start: first, length: report.to.unwrap_or(first) - first };
    let events = events(truth);
    let of_event = |suspect| reported_event(suspect, &events, truth, recording.inventory(), recorded);
    let suspects: Vec<Suspect> = report.suspects.iter().flat_map(Suspect::incidents).collect();
    let incidents: Vec<(&Suspect, Option<usize>)> =
        suspects.iter().map(|suspect| (suspect, of_event(suspect))).collect();
    let is_blamed = |suspect: &Suspect| suspect.cause != Cause::WorkloadSkew;
    tally.other_incidents +=
        incidents.iter().filter(|(suspect, of)| of.is_none() && is_blamed(suspect)).count();
    for (number, event) in events.iter().enumerate().filter(|(_, event)| event.begins_after(first)) {
        let count = incidents.iter().filter(|(_, of)| *of == Some(number)).count();
        tally.results.push(event_result(event, truth, &counter.alarms, count, first));
    }
    tally.false_alarms += counter.alarms.mistaken.len();
    Ok(())
}

struct AlarmCounter<'a> {
    truth: &'a Truth,
    alarms: Alarms,
    message: String,
    progress: &'a Progress<'a>,
}

impl Observer for AlarmCounter<'_> {
    fn verdicts(&mut self, inventory: &Inventory, examined: &[GroupScores]) -> ControlFlow<()> {
        for GroupScores { group, metrics } in examined {
            let members = &inventory.groups[*group].members;
            metrics.iter().for_each(|metric_scores| self.alarms.take(self.truth, members, metric_scores));
        }
        ControlFlow::Continue(())
    }

    fn progress(&mut self, done: f64) {
        (self.progress)(&self.message, done);
    }
}

/// Sampled component-days, at a coarse step.
fn component_days(recording: &mut DatasetRecording) -> anyhow::Result<f64> {
    const STEP: Span = Span::from_seconds(300);
    let mut sampled_time = SampledTime::new(recording.inventory());
    let metrics: Vec<&'static Metric> =
        [MetricId::Await, MetricId::Rxbyt, MetricId::Cwnd].map(MetricId::metric).to_vec();
    let step = STEP.max(recording.times().longest_interval);
    visit(recording, &metrics, step, &mut |tables, _| sampled_time.take(tables))?;
    Ok(sampled_time.component_days())
}
