//! Operators' feedback on components: repaired, ignored, snoozed.
//!
//! Words are kept in the order in which they were said. A later one overrules earlier ones, from its own time on; so
//! the same words always mean the same, whenever and however often they are read.

use serde::{Deserialize, Serialize};

use crate::model::cluster::Component;
use crate::model::component::Container;
use crate::model::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeedbackKind {
    /// The incident is over; anomalies from then on are a new one.
    Repaired,
    /// Not reported any more.
    Ignore,
    /// Not reported for a while.
    Snooze,
    /// Reported again: ends `ignore` and `snooze`.
    Unignore,
}

/// One word about one component, or about all that something contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    pub word: FeedbackKind,
    /// The name of a component, or of a server, controller, array, ... for everything that belongs to it.
    pub component: String,
    /// From when on it holds. Nothing: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Until when, for `snooze`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// When it was said. Written last: what lacks it was not written to its end.
    pub noted: Timestamp,
}

/// All that was said, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// The words.
    pub events: Vec<Event>,
}

impl FeedbackKind {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            FeedbackKind::Repaired => "repaired",
            FeedbackKind::Ignore => "ignore",
            FeedbackKind::Snooze => "snooze",
            FeedbackKind::Unignore => "unignore",
        }
    }
}

impl Event {
    /// True if it concerns a component.
    pub fn covers(&self, component: &Component) -> bool {
        covers(&self.component, component)
    }

    /// When a repair was done. Nothing for other words.
    fn repaired_at(&self) -> Option<Timestamp> {
        (self.word == FeedbackKind::Repaired).then(|| self.at.unwrap_or(self.noted))
    }

    fn holds_at(&self, time: Timestamp) -> bool {
        self.at.is_none_or(|at| at <= time) && self.until.is_none_or(|until| time < until)
    }
}

/// True if a name means a component: its own, the recorded one, or that of something that contains it, which may be
/// written `controller=ddn19a` where the bare name is not enough.
pub fn covers(name: &str, component: &Component) -> bool {
    let is_in = |attribute: &str, value: &str| {
        component.attributes.get(attribute).is_some_and(|known| known == value)
    };
    let is_own = component.name == name || component.recorded == name;
    let is_exact = name.split_once('=').is_some_and(|(attribute, value)| is_in(attribute, value));
    is_own || is_exact || Container::ALL.iter().any(|container| is_in(container.as_str(), name))
}

impl Feedback {
    /// The feedback given by a time about that time or earlier.
    pub fn by(mut self, time: Timestamp) -> Feedback {
        self.events.retain(|event| event.at.is_none_or(|at| at <= time));
        self
    }

    /// True if a component is not reported at a time.
    pub fn is_ignored(&self, component: &Component, time: Timestamp) -> bool {
        let of_it = self.events.iter().filter(|event| event.covers(component));
        of_it.filter(|event| event.holds_at(time)).fold(false, |is_ignored, event| match event.word {
            FeedbackKind::Ignore | FeedbackKind::Snooze => true,
            FeedbackKind::Unignore => false,
            FeedbackKind::Repaired => is_ignored,
        })
    }

    /// True if that may be so at any time.
    pub fn is_ever_ignored(&self, component: &Component) -> bool {
        let may_hide = |event: &&Event| matches!(event.word, FeedbackKind::Ignore | FeedbackKind::Snooze);
        self.events.iter().filter(may_hide).any(|event| event.covers(component))
    }

    /// When a component was repaired, in the order of time.
    pub fn repairs(&self, component: &Component) -> Vec<Timestamp> {
        let of_it = self.events.iter().filter(|event| event.covers(component));
        let mut repairs: Vec<Timestamp> = of_it.filter_map(Event::repaired_at).collect();
        repairs.sort_unstable();
        repairs
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::{Just, prop_assert_eq, prop_oneof, proptest};

    use super::*;
    use crate::model::component::Kind;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_seconds(60 * minute)
    }

    fn disk() -> Component {
        let attributes = [("server", "oss3"), ("controller", "ddn19a"), ("device", "sdb")];
        Component {
            name: "lun7".into(),
            recorded: "oss3:sdb".into(),
            host: "oss3".into(),
            kind: Kind::ATTACHMENT,
            class: None,
            below: Vec::new(),
            attributes: attributes.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        }
    }

    fn said(word: FeedbackKind, from: Option<i64>, until: Option<i64>) -> Event {
        let (component, noted) = ("lun7".to_owned(), at(500));
        Event { word, component, at: from.map(at), until: until.map(at), note: String::new(), noted }
    }

    fn ignored(events: &[Event]) -> Vec<i64> {
        let feedback = Feedback { events: events.to_vec() };
        (0..8).filter(|minute| feedback.is_ignored(&disk(), at(*minute))).collect()
    }

    #[test]
    fn later_words_overrule_earlier_ones_from_their_time_on() {
        let (ignore, snooze) =
            (said(FeedbackKind::Ignore, Some(3), None), said(FeedbackKind::Snooze, Some(1), Some(3)));
        assert_eq!(ignored(std::slice::from_ref(&ignore)), [3, 4, 5, 6, 7]);
        assert_eq!(ignored(std::slice::from_ref(&snooze)), [1, 2]);
        assert_eq!(ignored(&[ignore.clone(), said(FeedbackKind::Unignore, Some(5), None)]), [3, 4]);
        assert_eq!(ignored(&[said(FeedbackKind::Unignore, Some(5), None), ignore.clone()]), [3, 4, 5, 6, 7]);
        assert_eq!(
            ignored(&[ignore, snooze, said(FeedbackKind::Repaired, Some(4), None)]),
            [1, 2, 3, 4, 5, 6, 7]
        );
    }

    #[test]
    fn words_without_a_time_hold_always() {
        let ignore = said(FeedbackKind::Ignore, None, None);
        assert_eq!(ignored(std::slice::from_ref(&ignore)).len(), 8);
        assert_eq!(ignored(&[ignore, said(FeedbackKind::Unignore, None, None)]), [] as [i64; 0]);
    }

    #[test]
    fn a_component_is_meant_by_its_names_and_by_what_contains_it() {
        for name in ["lun7", "oss3:sdb", "oss3", "ddn19a", "controller=ddn19a", "device=sdb"] {
            assert!(covers(name, &disk()), "{name}");
        }
        // A device's name is no container: every server has one of that name.
        for name in ["sdb", "lun", "server=ddn19a", "", "=", "oss"] {
            assert!(!covers(name, &disk()), "{name}");
        }
        assert!(!covers("oss3", &Component { attributes: BTreeMap::new(), ..disk() }));
    }

    #[test]
    fn feedback_about_later_times_is_not_used() {
        let events =
            vec![said(FeedbackKind::Repaired, Some(6), None), said(FeedbackKind::Repaired, Some(2), None)];
        let feedback = Feedback { events };
        assert_eq!(feedback.repairs(&disk()), [at(2), at(6)]);
        assert_eq!(feedback.by(at(5)).repairs(&disk()), [at(2)]);
    }

    proptest! {
        #[test]
        fn words_about_others_change_nothing(
            words in proptest::collection::vec(
                (prop_oneof![Just(FeedbackKind::Ignore), Just(FeedbackKind::Unignore), Just(FeedbackKind::Repaired)], 0i64..8), 0..6),
        ) {
            let events: Vec<Event> = words.iter().map(|(word, minute)| said(*word, Some(*minute), None)).collect();
            let other = |event: &Event| Event { component: "lun8".into(), ..event.clone() };
            let mixed: Vec<Event> = events.iter().flat_map(|event| [other(event), event.clone()]).collect();
            prop_assert_eq!(ignored(&events), ignored(&mixed));
        }
    }
}
