//! The study `events`: events of a production system that reports name, their latencies and incidents.
//! In: datasets with labels that have times. Out: scores of reports. Always: a report is read as a user would have read it
//! at that time, from the samples until then.

use std::collections::{BTreeMap, BTreeSet};

use crate::scoring::events::{Event, EventResult, by_kind, event_result, events, reported_event};
use crate::scoring::reliability::{Verdict, verdicts};
use crate::scoring::sampled_time::SampledTime;
use crate::scoring::scored_method::ScoredMethod;
use crate::scoring::stream::per_1000_days;
use crate::scoring::truth::Truth;
use laggard_core::diagnosis::{Cause, Suspect};
use laggard_core::model::cluster::Inventory;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::scores::Window;

use super::datasets::LabelledDataset;
use super::document::{Document, EventScore};
use super::{Progress, Task, suspects, visit};
use laggard_core::recording::Recording;
use laggard_store::dataset_recording::DatasetRecording;

/// Reports are read these minutes after the begin of each event, until one names it, and at the end of the recording.
const MINUTES: [i64; 15] = [5, 10, 15, 20, 25, 30, 45, 60, 90, 120, 180, 240, 360, 720, 1440];

/// Totals of one method over all datasets.
#[derive(Clone, Default)]
struct Tally {
    results: Vec<EventResult>,
    false_alarms: usize,
    false_alarms_at_any_time: usize,
    component_days: f64,
    verdicts: Vec<Verdict>,
}

pub(super) fn evaluate(
    task: &Task,
    labelled: &[LabelledDataset],
    document: &mut Document,
    progress: &Progress<'_>,
) -> anyhow::Result<Vec<Vec<Verdict>>> {
    let mut tallies = vec![Tally::default(); task.methods.len()];
    for one in labelled {
        let mut recording = task.open(one)?;
        let (truth, warnings) = task.truth(&recording, one)?;
        document.warnings.extend(warnings);
        let component_days = component_days(&mut recording)?;
        for (&scored_method, tally) in task.methods.iter().zip(&mut tallies) {
            tally.component_days += component_days;
            let mut reports = Reports::new(task, scored_method, one, &recording, &truth)?;
            reports.score(tally, progress)?;
        }
    }
    let score = |(scored_method, tally): (&ScoredMethod, &Tally)| EventScore {
        method: scored_method.as_str(),
        kinds: by_kind(&tally.results),
        results: tally.results.clone(),
        false_alarms: tally.false_alarms,
        false_alarms_per_1000_component_days: per_1000_days(tally.false_alarms, tally.component_days),
        false_alarms_at_any_time: tally.false_alarms_at_any_time,
    };
    document.events.extend(task.methods.iter().zip(&tallies).map(score));
    Ok(tallies.into_iter().map(|tally| tally.verdicts).collect())
}

/// The reports of one method on one dataset.
struct Reports<'a> {
    task: &'a Task,
    scored_method: ScoredMethod,
    one: &'a LabelledDataset,
    inventory: &'a Inventory,
    truth: &'a Truth,
    events: Vec<Event>,
    first: Timestamp,
    last: Timestamp,
    /// By the time at which they are read.
    read: BTreeMap<Timestamp, Vec<Reported>>,
}

/// A suspect, and the index of the event that it belongs to.
#[derive(Clone)]
struct Reported {
    suspect: Suspect,
    event: Option<usize>,
}

impl Reported {
    /// Uneven load is not a fault.
    fn is_false_alarm(&self) -> bool {
        self.event.is_none() && self.suspect.cause != Cause::WorkloadSkew
    }
}

impl<'a> Reports<'a> {
    fn new(
        task: &'a Task,
        scored_method: ScoredMethod,
        one: &'a LabelledDataset,
        recording: &'a DatasetRecording,
        truth: &'a Truth,
    ) -> anyhow::Result<Reports<'a>> {
        let (first, last) = recording.times().ends(recording.times().longest_interval)?;
        Ok(Reports {
            task,
            scored_method,
            one,
            inventory: recording.inventory(),
            truth,
            events: events(truth),
            first,
            last,
            read: BTreeMap::new(),
        })
    }

    fn score(&mut self, tally: &mut Tally, progress: &Progress<'_>) -> anyhow::Result<()> {
        let message = format!("{}, {}", self.one.location, self.scored_method.as_str());
        let whole = self.until(self.last)?.to_vec();
        for (number, event) in self.events.clone().iter().enumerate() {
            progress(&message, number as f64 / self.events.len() as f64);
            if event.begins_after(self.first) {
                let found = self.found(number)?;
                let incidents = whole.iter().filter(|reported| reported.event == Some(number)).count();
                tally.results.push(event_result(event, self.truth, found, incidents, self.first));
            }
        }
        tally.false_alarms += false_alarms(&whole).len();
        tally.false_alarms_at_any_time +=
            self.read.values().flat_map(|report| false_alarms(report)).collect::<BTreeSet<&str>>().len();
        let all = self.read.values().flatten().map(|reported| &reported.suspect);
        tally.verdicts.extend(verdicts(all, self.truth, self.inventory));
        Ok(())
    }

    /// The time of the first report that names an event. A component that was a suspect at its begin does not count.
    fn found(&mut self, number: usize) -> anyhow::Result<Option<Timestamp>> {
        let begin = self.events[number].begin.unwrap_or(self.first);
        let is_ongoing = |reported: &&Reported| reported.suspect.is_ongoing;
        let name = |reported: &Reported| reported.suspect.component.name.clone();
        let before: BTreeSet<String> = self.until(begin)?.iter().filter(is_ongoing).map(name).collect();
        let last = self.last;
        let later = MINUTES.map(|minutes| begin + Span::from_seconds(60 * minutes));
        for time in later.into_iter().filter(|time| *time < last).chain([last]) {
            let is_new = |reported: &Reported| {
                reported.event == Some(number) && !before.contains(&reported.suspect.component.name)
            };
            if self.until(time)?.iter().any(is_new) {
                return Ok(Some(time));
            }
        }
        Ok(None)
    }

    /// The report that a user would have read at a time.
    fn until(&mut self, time: Timestamp) -> anyhow::Result<&[Reported]> {
        if !self.read.contains_key(&time) {
            let report = self.report(time)?;
            self.read.insert(time, report);
        }
        Ok(&self.read[&time])
    }

    fn report(&self, time: Timestamp) -> anyhow::Result<Vec<Reported>> {
        if time <= self.first {
            return Ok(Vec::new());
        }
        let Task { lengths, .. } = self.task;
        let run = self.task.run(time - self.first, lengths);
        let method = self.task.method(self.scored_method, self.one, &run)?;
        let mut recording = self.task.open_until(self.one, time)?;
        let recorded = Window { start: self.first, length: time - self.first };
        let reported = |suspect: Suspect| Reported {
            event: reported_event(&suspect, &self.events, self.truth, self.inventory, recorded),
            suspect,
        };
        Ok(suspects(&mut recording, &*method)?.into_iter().map(reported).collect())
    }
}

fn false_alarms(report: &[Reported]) -> BTreeSet<&str> {
    let mistaken = report.iter().filter(|reported| reported.is_false_alarm());
    mistaken.map(|reported| reported.suspect.component.name.as_str()).collect()
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
