//! Detection of events of a production system: found or not, latency, number of incidents.
//! In: labels, and the suspects of reports. Out: the content of the Intrepid paper's Tables 8 and 9. Always:
//! labels with the same cause and time are one event.

use std::collections::BTreeMap;

use laggard_core::diagnosis::Suspect;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::scores::Window;
use serde::Serialize;

use super::truth::Truth;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// The cause.
    pub kind: String,
    pub begin: Option<Timestamp>,
    pub end: Option<Timestamp>,
    /// Indices of `Truth::faults`.
    pub faults: Vec<usize>,
}

impl Event {
    /// True if the event begins within a recording that begins at `first`. Otherwise its latency is unknown.
    pub(crate) fn begins_after(&self, first: Timestamp) -> bool {
        self.begin.is_none_or(|begin| begin >= first)
    }

    /// The overlap of the event and a suspect, as a share of the recorded time of both.
    fn likeness(&self, suspected: Window, recorded: Window) -> f64 {
        let begin = self.begin.unwrap_or(recorded.start).max(recorded.start);
        let end = self.end.unwrap_or(recorded.end()).min(recorded.end());
        let common = end.min(suspected.end()) - begin.max(suspected.start);
        let all = end.max(suspected.end()) - begin.min(suspected.start);
        common.micros() as f64 / all.micros().max(1) as f64
    }
}

/// The result of a method for an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventResult {
    /// The cause.
    pub kind: String,
    pub begin: Option<Timestamp>,
    /// The components that the labels name.
    pub components: Vec<String>,
    /// Time until the first report that names the event; `None`: never.
    pub latency: Option<Span>,
    /// The number of suspects for this event.
    pub incidents: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KindScores {
    pub events: usize,
    pub found: usize,
    /// Shortest first.
    pub latencies: Vec<Span>,
    /// The number of suspects for each event, fewest first.
    pub incidents: Vec<usize>,
}

pub(crate) fn events(truth: &Truth) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for (number, fault) in truth.faults.iter().enumerate() {
        let label = &fault.label;
        let is_same = |e: &&mut Event| e.kind == label.cause && (e.begin, e.end) == (label.begin, label.end);
        match events.iter_mut().find(is_same) {
            Some(event) => event.faults.push(number),
            None => events.push(Event {
                kind: label.cause.clone(),
                begin: label.begin,
                end: label.end,
                faults: vec![number],
            }),
        }
    }
    events
}

/// The result for an event that was found at a time in a recording that begins at `first`, with `incidents` suspects.
pub(crate) fn event_result(
    event: &Event,
    truth: &Truth,
    found: Option<Timestamp>,
    incidents: usize,
    first: Timestamp,
) -> EventResult {
    let begin = event.begin.unwrap_or(first);
    let names = event.faults.iter().map(|&number| truth.faults[number].label.component.clone());
    EventResult {
        kind: event.kind.clone(),
        begin: event.begin,
        components: names.collect(),
        latency: found.map(|found| found - begin),
        incidents,
    }
}

/// The index of the event that a suspect belongs to: of the events that it reports, the one with the largest overlap in
/// time. An array may jitter, lose a controller and then some paths within an hour, each with a suspect of its own.
pub(crate) fn reported_event(
    suspect: &Suspect,
    events: &[Event],
    truth: &Truth,
    inventory: &Inventory,
    recorded: Window,
) -> Option<usize> {
    let faults = truth.reported_by(inventory, suspect);
    let is_reported = |(_, event): &(usize, &Event)| event.faults.iter().any(|fault| faults.contains(fault));
    let suspected = Window { start: suspect.since, length: suspect.until - suspect.since };
    let likeness = |(number, event): (usize, &Event)| (number, event.likeness(suspected, recorded));
    let reported = events.iter().enumerate().filter(is_reported).map(likeness);
    reported.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(number, _)| number)
}

pub(crate) fn by_kind(results: &[EventResult]) -> BTreeMap<String, KindScores> {
    let mut kinds: BTreeMap<String, KindScores> = BTreeMap::new();
    for result in results {
        let kind = kinds.entry(result.kind.clone()).or_default();
        kind.events += 1;
        kind.found += usize::from(result.latency.is_some());
        kind.latencies.extend(result.latency);
        kind.incidents.push(result.incidents);
    }
    for kind in kinds.values_mut() {
        kind.latencies.sort_unstable();
        kind.incidents.sort_unstable();
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::labels::parse;
    use crate::scoring::testing::inventory;

    const LABELS: &str = "component,begin,end,cause
a,1970-01-01T01:00:00Z,1970-01-01T03:00:00Z,array-jitter
b:1,1970-01-01T01:00:00Z,1970-01-01T03:00:00Z,array-jitter
b:2,1970-01-01T05:00:00Z,,slow-lun
";

    #[test]
    fn labels_of_one_cause_and_time_are_one_event() {
        let inventory = inventory(&["a:1", "a:2", "b:1", "b:2"]);
        let (truth, _) = Truth::new(&inventory, &parse(LABELS).unwrap());
        let faults: Vec<Vec<usize>> = events(&truth).into_iter().map(|event| event.faults).collect();
        assert_eq!(faults, [vec![0, 1], vec![2]]);
    }

    #[test]
    fn an_event_that_began_before_the_recording_has_no_latency() {
        let inventory = inventory(&["a:1", "a:2", "b:1", "b:2"]);
        let (truth, _) = Truth::new(&inventory, &parse(LABELS).unwrap());
        let is_timed = |hours: i64| {
            let first = Timestamp::from_seconds(3600 * hours);
            events(&truth).iter().map(|event| event.begins_after(first)).collect::<Vec<bool>>()
        };
        assert_eq!((is_timed(1), is_timed(2)), (vec![true, true], vec![false, true]));
    }

    fn hours(begin: i64, end: i64) -> Window {
        Window {
            start: Timestamp::from_seconds(3600 * begin),
            length: Span::from_seconds(3600 * (end - begin)),
        }
    }

    #[test]
    fn an_earlier_event_belongs_to_the_suspect_that_lasts_longest() {
        let event = |begin: i64, end: Option<i64>| Event {
            kind: "array-jitter".into(),
            begin: Some(Timestamp::from_seconds(3600 * begin)),
            end: end.map(|end| Timestamp::from_seconds(3600 * end)),
            faults: vec![],
        };
        let (before, later, recorded) = (event(-900, None), event(18, Some(24)), hours(0, 48));
        let is_of_later =
            |suspected| later.likeness(suspected, recorded) > before.likeness(suspected, recorded);
        assert!(is_of_later(hours(18, 24)) && is_of_later(hours(17, 26)));
        assert!(!is_of_later(hours(0, 48)) && !is_of_later(hours(1, 40)));
        assert_eq!(before.likeness(hours(0, 48), recorded), 1.0);
    }

    #[test]
    fn events_of_a_kind_are_counted_together() {
        let inventory = inventory(&["a:1", "a:2", "b:1", "b:2"]);
        let (truth, _) = Truth::new(&inventory, &parse(LABELS).unwrap());
        let (first, found) = (Timestamp::from_seconds(0), Some(Timestamp::from_seconds(2 * 3600)));
        let found = [found, None].into_iter();
        let results: Vec<EventResult> = events(&truth)
            .iter()
            .zip(found)
            .map(|(event, found)| event_result(event, &truth, found, 0, first))
            .collect();
        let kinds = by_kind(&results);
        assert_eq!(kinds["array-jitter"].latencies, [Span::from_seconds(3600)]);
        assert_eq!((kinds["slow-lun"].events, kinds["slow-lun"].found), (1, 0));
    }
}
