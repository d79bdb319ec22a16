//! Events of a production system: found or not, after how long, as how many incidents.

use std::ops::ControlFlow;

use crate::scoring::covered::Covered;
use crate::scoring::entrants::Entrant;
use crate::scoring::events::{Seen, by_kind, events, seen, told};
use crate::scoring::stream::{Alarms, per_1000_days};
use crate::scoring::truth::Truth;
use laggard_core::diagnosis::Cause;
use laggard_core::diagnosis::Suspect;
use laggard_core::evaluation::GroupScores;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::scores::Window;

use super::datasets::Labelled;
use super::document::{Document, EventScore};
use super::{Progress, Task, truth, visit};
use laggard_core::pipeline::{Observer, diagnose};
use laggard_core::recording::Recording;
use laggard_store::dataset_recording::DatasetRecording;

/// What one method made of all datasets.
#[derive(Default)]
struct Tally {
    seen: Vec<Seen>,
    other_incidents: usize,
    false_alarms: usize,
    component_days: f64,
}

/// Scores methods over all datasets.
pub(super) fn evaluate(
    task: &Task,
    labelled: &[Labelled],
    document: &mut Document,
    progress: &Progress<'_>,
) -> anyhow::Result<()> {
    let mut tallies: Vec<Tally> = task.entrants.iter().map(|_| Tally::default()).collect();
    for one in labelled {
        let mut recording = task.open(one)?;
        let (truth, warnings) = truth(&recording, one);
        let truth = truth.with_witnesses(recording.inventory());
        document.warnings.extend(warnings);
        let component_days = component_days(&mut recording)?;
        for (&entrant, tally) in task.entrants.iter().zip(&mut tallies) {
            tally.component_days += component_days;
            judge(task, entrant, one, &mut recording, &truth, (tally, progress))?;
        }
    }
    let score = |(entrant, tally): (&Entrant, Tally)| EventScore {
        method: entrant.as_str(),
        kinds: by_kind(&tally.seen),
        seen: tally.seen,
        other_incidents: tally.other_incidents,
        false_alarms: tally.false_alarms,
        false_alarms_per_1000_component_days: per_1000_days(tally.false_alarms, tally.component_days),
    };
    document.events.extend(task.entrants.iter().zip(tallies).map(score));
    Ok(())
}

fn judge(
    task: &Task,
    entrant: Entrant,
    one: &Labelled,
    recording: &mut DatasetRecording,
    truth: &Truth,
    (tally, progress): (&mut Tally, &Progress<'_>),
) -> anyhow::Result<()> {
    let method = task.method(entrant, one, recording.times().length()?, &task.lengths);
    let message = format!("{}, {}", one.location, entrant.as_str());
    let mut counter = AlarmCounter { truth, alarms: Alarms::default(), message, progress };
    let report = diagnose(recording, &*method, &mut counter)?;
    let first = report.from.unwrap_or(Timestamp::MIN);
    let recorded = Window { start: first, length: report.to.unwrap_or(first) - first };
    let events = events(truth);
    let of_event = |suspect| told(suspect, &events, truth, recording.inventory(), recorded);
    let incidents: Vec<(&Suspect, Option<usize>)> =
        report.suspects.iter().map(|suspect| (suspect, of_event(suspect))).collect();
    let is_blamed = |suspect: &Suspect| suspect.cause != Cause::WorkloadSkew;
    tally.other_incidents += incidents.iter().filter(|(who, of)| of.is_none() && is_blamed(who)).count();
    for (number, event) in events.iter().enumerate().filter(|(_, event)| event.begins_after(first)) {
        let count = incidents.iter().filter(|(_, of)| *of == Some(number)).count();
        tally.seen.push(seen(event, truth, &counter.alarms, count, first));
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
            metrics.iter().for_each(|judgement| self.alarms.take(self.truth, members, judgement));
        }
        ControlFlow::Continue(())
    }

    fn progress(&mut self, done: f64) {
        (self.progress)(&self.message, done);
    }
}

/// How much was sampled, looked at every few minutes.
fn component_days(recording: &mut DatasetRecording) -> anyhow::Result<f64> {
    const STEP: Span = Span::from_seconds(300);
    let mut covered = Covered::new(recording.inventory());
    let metrics: Vec<&'static Metric> =
        [MetricId::Await, MetricId::Rxbyt, MetricId::Cwnd].map(MetricId::metric).to_vec();
    let step = STEP.max(recording.times().longest_interval);
    visit(recording, &metrics, step, &mut |tables, _| covered.take(tables))?;
    Ok(covered.component_days())
}
