//! Events of a production system: found or not, after how long, as how many incidents.

use laggard_core::diagnosis::cause::Cause;
use laggard_core::examination::Examined;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::report::Suspect;
use laggard_core::scores::Window;
use laggard_eval::scoring::covered::Covered;
use laggard_eval::scoring::entrants::Entrant;
use laggard_eval::scoring::events::{Seen, by_kind, events, seen, told};
use laggard_eval::scoring::stream::{Alarms, per_1000_days};
use laggard_eval::scoring::truth::Truth;

use super::document::{Document, EventScore};
use super::found::Labelled;
use super::{Task, truth};
use crate::diagnosing::{Watcher, diagnose};
use crate::examining::Recording;
use crate::progress;

/// What one method made of all datasets.
#[derive(Default)]
struct Tally {
    seen: Vec<Seen>,
    other_incidents: usize,
    false_alarms: usize,
    component_days: f64,
}

/// Scores methods over all datasets.
pub fn evaluate(task: &Task, labelled: &[Labelled], document: &mut Document) -> anyhow::Result<()> {
    let mut tallies: Vec<Tally> = task.entrants.iter().map(|_| Tally::default()).collect();
    for one in labelled {
        let mut recording = task.open(one)?;
        let (truth, warnings) = truth(&recording, one);
        let truth = truth.with_witnesses(&recording.inventory);
        document.warnings.extend(warnings);
        let component_days = component_days(&mut recording)?;
        for (&entrant, tally) in task.entrants.iter().zip(&mut tallies) {
            tally.component_days += component_days;
            judge(task, entrant, one, &mut recording, &truth, tally)?;
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
    recording: &mut Recording,
    truth: &Truth,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let method = task.method(entrant, one, recording.span()?, &task.lengths);
    let bar = progress::over_shares();
    bar.set_message(format!("{}, {}", one.location, entrant.as_str()));
    let mut hearing = Hearing { truth, alarms: Alarms::default(), bar };
    let report = diagnose(recording, &*method, &mut hearing)?;
    hearing.bar.finish_and_clear();
    let first = report.from.unwrap_or(Timestamp::MIN);
    let recorded = Window { start: first, length: report.to.unwrap_or(first) - first };
    let events = events(truth);
    let of_event = |suspect| told(suspect, &events, truth, &recording.inventory, recorded);
    let incidents: Vec<(&Suspect, Option<usize>)> =
        report.suspects.iter().map(|suspect| (suspect, of_event(suspect))).collect();
    let is_blamed = |suspect: &Suspect| suspect.cause != Cause::WorkloadSkew;
    tally.other_incidents += incidents.iter().filter(|(who, of)| of.is_none() && is_blamed(who)).count();
    for (number, event) in events.iter().enumerate().filter(|(_, event)| event.begins_after(first)) {
        let count = incidents.iter().filter(|(_, of)| *of == Some(number)).count();
        tally.seen.push(seen(event, truth, &hearing.alarms, count, first));
    }
    tally.false_alarms += hearing.alarms.mistaken.len();
    Ok(())
}

struct Hearing<'a> {
    truth: &'a Truth,
    alarms: Alarms,
    bar: indicatif::ProgressBar,
}

impl Watcher for Hearing<'_> {
    fn judged(&mut self, inventory: &Inventory, examined: &[Examined]) -> anyhow::Result<()> {
        for Examined { group, judgements } in examined {
            let members = &inventory.groups[*group].members;
            judgements.iter().for_each(|judgement| self.alarms.take(self.truth, members, judgement));
        }
        Ok(())
    }

    fn progress(&mut self, done: f64) {
        self.bar.set_position((done * progress::SHARES as f64) as u64);
    }
}

/// How much was sampled, looked at every few minutes.
fn component_days(recording: &mut Recording) -> anyhow::Result<f64> {
    const STEP: Span = Span::from_seconds(300);
    let mut covered = Covered::new(&recording.inventory);
    let metrics: Vec<&'static Metric> =
        [MetricId::Await, MetricId::Rxbyt, MetricId::Cwnd].map(MetricId::metric).to_vec();
    recording.visit(&metrics, STEP.max(recording.slowest), &mut |tables, _| {
        covered.take(tables);
        Ok(())
    })?;
    Ok(covered.component_days())
}
