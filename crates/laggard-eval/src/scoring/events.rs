//! Incidents of a production system: which were seen, after how long, and as how many.
//! In: labels that belong together, alarms, and the suspects of a report. Out: the form of the Intrepid paper's
//! Tables 8 and 9. Always: labels with one cause and one time are one event.

use std::collections::BTreeMap;

use laggard_core::diagnosis::Suspect;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::scores::Window;
use serde::Serialize;

use super::stream::Alarms;
use super::truth::{Truth, belongs};

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its cause.
    pub kind: String,
    /// When it began.
    pub begin: Option<Timestamp>,
    /// When it ended.
    pub end: Option<Timestamp>,
    /// The numbers of its troubles.
    pub troubles: Vec<usize>,
}

impl Event {
    /// Whether its begin is in a recording that begins at `first`; how soon it is found cannot be told otherwise.
    pub fn begins_after(&self, first: Timestamp) -> bool {
        self.begin.is_none_or(|begin| begin >= first)
    }

    /// The share of the recorded time of both that it has in common with a suspect.
    fn likeness(&self, suspected: Window, recorded: Window) -> f64 {
        let begin = self.begin.unwrap_or(recorded.start).max(recorded.start);
        let end = self.end.unwrap_or(recorded.end()).min(recorded.end());
        let common = end.min(suspected.end()) - begin.max(suspected.start);
        let all = end.max(suspected.end()) - begin.min(suspected.start);
        common.micros() as f64 / all.micros().max(1) as f64
    }
}

/// What a method made of an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seen {
    /// The event's cause.
    pub kind: String,
    /// When it began.
    pub begin: Option<Timestamp>,
    /// Whom the labels name.
    pub components: Vec<String>,
    /// After how long one of its components was called faulty; nothing: it was not.
    pub latency: Option<Span>,
    /// As how many suspects it was told.
    pub incidents: usize,
}

/// Events of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KindFigures {
    /// How many there were.
    pub events: usize,
    /// How many were seen.
    pub found: usize,
    /// After how long, shortest first.
    pub latencies: Vec<Span>,
    /// As how many suspects each was told, fewest first.
    pub incidents: Vec<usize>,
}

/// The events that labels speak of.
pub fn events(truth: &Truth) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for (number, trouble) in truth.troubles.iter().enumerate() {
        let label = &trouble.label;
        let is_same = |e: &&mut Event| e.kind == label.cause && (e.begin, e.end) == (label.begin, label.end);
        match events.iter_mut().find(is_same) {
            Some(event) => event.troubles.push(number),
            None => events.push(Event {
                kind: label.cause.clone(),
                begin: label.begin,
                end: label.end,
                troubles: vec![number],
            }),
        }
    }
    events
}

/// What was made of an event of a recording that begins at `first`, told as so many suspects.
pub fn seen(event: &Event, truth: &Truth, alarms: &Alarms, incidents: usize, first: Timestamp) -> Seen {
    let told = event.troubles.iter().filter_map(|number| alarms.told.get(number)).map(|(end, _)| *end).min();
    let begin = event.begin.unwrap_or(first);
    let names = event.troubles.iter().map(|&number| truth.troubles[number].label.component.clone());
    Seen {
        kind: event.kind.clone(),
        begin: event.begin,
        components: names.collect(),
        latency: told.map(|told| (told - begin).max(Span::ZERO)),
        incidents,
    }
}

/// The number of the event that a suspect tells of: of those that concern it, the one whose time is most like its own.
/// An array may jitter, lose a controller and then some paths within an hour, and each is told by another suspect.
pub fn told(
    suspect: &Suspect,
    events: &[Event],
    truth: &Truth,
    inventory: &Inventory,
    recorded: Window,
) -> Option<usize> {
    let concerning = events.iter().enumerate().filter(|(_, event)| is_of(event, suspect, truth, inventory));
    let suspected = Window { start: suspect.since, length: suspect.until - suspect.since };
    let likeness = |(number, event): (usize, &Event)| (number, event.likeness(suspected, recorded));
    concerning.map(likeness).max_by(|one, other| one.1.total_cmp(&other.1)).map(|(number, _)| number)
}

/// Whether a suspect concerns an event.
fn is_of(event: &Event, suspect: &Suspect, truth: &Truth, inventory: &Inventory) -> bool {
    let is_then = event.end.is_none_or(|end| suspect.since < end)
        && event.begin.is_none_or(|begin| suspect.until > begin);
    is_then && event.troubles.iter().any(|&number| concerns(suspect, truth, number, inventory))
}

/// Whether a suspect is, holds, explains or is part of what a label names.
fn concerns(suspect: &Suspect, truth: &Truth, number: usize, inventory: &Inventory) -> bool {
    let trouble = &truth.troubles[number];
    let name = &suspect.component.name;
    let is_member = |&member: &usize| {
        let component = &inventory.components[member];
        belongs(component, name) || suspect.explains.contains(&component.name)
    };
    trouble.label.component == *name || trouble.members.iter().any(is_member)
}

/// Events by kind.
pub fn by_kind(seen: &[Seen]) -> BTreeMap<String, KindFigures> {
    let mut kinds: BTreeMap<String, KindFigures> = BTreeMap::new();
    for seen in seen {
        let kind = kinds.entry(seen.kind.clone()).or_default();
        kind.events += 1;
        kind.found += usize::from(seen.latency.is_some());
        kind.latencies.extend(seen.latency);
        kind.incidents.push(seen.incidents);
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
        let troubles: Vec<Vec<usize>> = events(&truth).into_iter().map(|event| event.troubles).collect();
        assert_eq!(troubles, [vec![0, 1], vec![2]]);
    }

    #[test]
    fn an_event_that_was_there_before_the_recording_is_not_timed() {
        let inventory = inventory(&["a:1", "a:2", "b:1", "b:2"]);
        let (truth, _) = Truth::new(&inventory, &parse(LABELS).unwrap());
        let is_timed = |hours: i64| {
            let first = Timestamp::from_seconds(3600 * hours);
            events(&truth).iter().map(|event| event.begins_after(first)).collect::<Vec<bool>>()
        };
        assert_eq!((is_timed(1), is_timed(2)), (vec![true, true], vec![false, true]));
    }

    /// From hour to hour.
    fn hours(begin: i64, end: i64) -> Window {
        Window {
            start: Timestamp::from_seconds(3600 * begin),
            length: Span::from_seconds(3600 * (end - begin)),
        }
    }

    #[test]
    fn what_was_there_before_is_told_by_whoever_was_suspect_all_the_time() {
        let event = |begin: i64, end: Option<i64>| Event {
            kind: "array-jitter".into(),
            begin: Some(Timestamp::from_seconds(3600 * begin)),
            end: end.map(|end| Timestamp::from_seconds(3600 * end)),
            troubles: vec![],
        };
        let (before, later, recorded) = (event(-900, None), event(18, Some(24)), hours(0, 48));
        let is_of_later =
            |suspected| later.likeness(suspected, recorded) > before.likeness(suspected, recorded);
        assert!(is_of_later(hours(18, 24)) && is_of_later(hours(17, 26)));
        assert!(!is_of_later(hours(0, 48)) && !is_of_later(hours(1, 40)));
        assert_eq!(before.likeness(hours(0, 48), recorded), 1.0);
    }

    #[test]
    fn an_event_is_seen_when_the_first_of_its_components_is_told() {
        let inventory = inventory(&["a:1", "a:2", "b:1", "b:2"]);
        let (truth, _) = Truth::new(&inventory, &parse(LABELS).unwrap());
        let mut alarms = Alarms::default();
        alarms.told.insert(0, (Timestamp::from_seconds(3 * 3600), 0));
        alarms.told.insert(1, (Timestamp::from_seconds(2 * 3600), 2));
        let first = Timestamp::from_seconds(0);
        let seen: Vec<Seen> =
            events(&truth).iter().map(|event| seen(event, &truth, &alarms, 0, first)).collect();
        let kinds = by_kind(&seen);
        assert_eq!(kinds["array-jitter"].latencies, [Span::from_seconds(3600)]);
        assert_eq!((kinds["slow-lun"].events, kinds["slow-lun"].found), (1, 0));
    }
}
