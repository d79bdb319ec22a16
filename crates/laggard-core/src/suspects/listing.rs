//! The persistence of all components of a recording, with feedback applied at its time.
//! In: [`GroupScores`], as they come. Out: the [`Standing`]s of each hour. Always: a repaired component begins at 0; an
//! ignored one has no place while it is.

use std::collections::{BTreeMap, VecDeque};

use super::feedback::Feedback;
use super::standing::{CountedWindow, HOUR, Standing, Standings};
use crate::evaluation::GroupScores;
use crate::model::cluster::{Inventory, PeerGroup};
use crate::model::time::{Span, Timestamp};
use crate::scores::MetricScores;

/// Follows all groups of a recording.
#[derive(Debug)]
pub struct Listing<'a> {
    inventory: &'a Inventory,
    feedback: &'a Feedback,
    standings: Standings,
    /// By the group's index in the inventory.
    groups: BTreeMap<usize, Followed>,
    /// Windows of this length are counted; without it, all.
    counted_length: Option<Span>,
}

#[derive(Debug)]
struct Followed {
    number: usize,
    /// Repairs that are still to come.
    repairs: VecDeque<(Timestamp, usize)>,
}

impl<'a> Listing<'a> {
    pub fn new(
        inventory: &'a Inventory,
        feedback: &'a Feedback,
        counted_length: Option<Span>,
    ) -> Listing<'a> {
        Listing {
            inventory,
            feedback,
            standings: Standings::default(),
            groups: BTreeMap::new(),
            counted_length,
        }
    }

    /// Adds a group, by its index in the inventory, and returns its number in the lists: from 1, in the order in which groups
    /// are added.
    pub fn add_group(&mut self, index: usize, group: &PeerGroup) -> usize {
        let of_member = |&member: &usize| {
            let repairs = self.feedback.repairs(&self.inventory.components[member]);
            repairs.into_iter().map(move |repair| (repair, member))
        };
        let mut repairs: Vec<(Timestamp, usize)> = group.members.iter().flat_map(of_member).collect();
        repairs.sort_unstable();
        let number = self.standings.add_group(&group.members);
        self.groups.insert(index, Followed { number, repairs: repairs.into() });
        number + 1
    }

    /// Takes the verdicts on a group.
    pub fn take(&mut self, verdicts: &GroupScores) {
        let Some(Followed { number, repairs }) = self.groups.get_mut(&verdicts.group) else { return };
        let windows = together(&verdicts.metrics, self.counted_length);
        let mut rest = &windows[..];
        while let Some((time, component)) = repairs.front().copied() {
            let (before, after) = rest.split_at(rest.partition_point(|counted| counted.window.end() <= time));
            self.standings.take(*number, before);
            rest = after;
            if rest.is_empty() {
                return;
            }
            repairs.pop_front();
            self.standings.repaired(component);
        }
        self.standings.take(*number, rest);
    }

    /// All hours. A component that is ignored at the end of an hour is not in it.
    pub fn hours(self) -> impl Iterator<Item = (Timestamp, Vec<Standing>)> {
        let Listing { inventory, feedback, standings, .. } = self;
        standings.hours().map(move |(hour, mut standings)| {
            let last = hour + HOUR - Span::from_micros(1);
            standings.retain(|one| !feedback.is_ignored(&inventory.components[one.component], last));
            (hour, standings)
        })
    }
}

/// The windows of all metrics, in the order of their ends.
fn together(metrics: &[MetricScores], counted_length: Option<Span>) -> Vec<CountedWindow<'_>> {
    let mut windows: BTreeMap<(Timestamp, Timestamp), CountedWindow<'_>> = BTreeMap::new();
    for MetricScores { metric, windows: of_metric } in metrics {
        let is_counted = |length: Span| counted_length.is_none_or(|counted_length| counted_length == length);
        for scored in of_metric.iter().filter(|scored| is_counted(scored.window.length)) {
            let key = (scored.window.end(), scored.window.start);
            let window = scored.window;
            let counted = windows.entry(key).or_insert_with(|| CountedWindow { window, scores: Vec::new() });
            counted.scores.push((*metric, &scored.scores));
        }
    }
    windows.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::{ClusterFile, Recorded};
    use crate::model::component::Kind;
    use crate::model::metric::Metric;
    use crate::scores::{MemberScore, ScoredWindow, Window};
    use crate::suspects::feedback::{Event, FeedbackKind};
    use crate::suspects::ranked::{HourLists, HourPlaces, RankedBy};

    fn at(minute: i64) -> Timestamp {
        "2011-04-17".parse::<Timestamp>().unwrap() + Span::from_seconds(60 * minute)
    }

    fn inventory() -> Inventory {
        let disk =
            |host: &str| Recorded { name: format!("{host}:sda"), kind: Kind::ATTACHMENT, host: host.into() };
        Inventory::new(&ClusterFile::default(), &["a", "b", "c"].map(disk))
    }

    /// Windows of 15 minutes, ending every 7.5; who is anomalous in which.
    fn metric_scores(metric: &str, first: i64, count: i64, who: [bool; 3]) -> MetricScores {
        let verdict = |is_anomalous| MemberScore {
            score: 1.0,
            threshold: 0.5,
            is_anomalous,
            is_unlikely: false,
            is_faulty: false,
        };
        let length = Span::from_seconds(900);
        let window = |n: i64| Window { start: at(0) + Span::from_seconds(450 * (n + 1)) - length, length };
        let scored = |n| ScoredWindow { window: window(n), scores: who.map(verdict).to_vec() };
        let windows = (first..first + count).map(scored).collect();
        MetricScores { metric: Metric::named(metric).unwrap(), windows }
    }

    fn lists(feedback: &Feedback, top: usize) -> String {
        let inventory = inventory();
        let mut listing = Listing::new(&inventory, feedback, None);
        assert_eq!(listing.add_group(0, &inventory.groups[0]), 1);
        for first in [0, 8, 16] {
            let one = metric_scores("await", first, 8, [true, false, false]);
            let other = metric_scores("tps", first, 8, [true, first > 0, first == 16]);
            listing.take(&GroupScores { group: 0, metrics: vec![one, other] });
        }
        let by = RankedBy::Component;
        let places = listing.hours().map(|hour| HourPlaces::new(hour, &inventory, by, top));
        let hours = places.map(|places| places.listed(&inventory, top, |_| None)).collect();
        HourLists { by, hours }.to_string()
    }

    fn said(word: FeedbackKind, component: &str, from: Option<i64>, until: Option<i64>) -> Event {
        let (component, note, noted) = (component.to_owned(), String::new(), at(0));
        Event { word, component, at: from.map(at), until: until.map(at), note, noted }
    }

    #[test]
    fn anomalous_in_one_metric_is_anomalous_once() {
        insta::assert_snapshot!(lists(&Feedback::default(), 3), @r"
        Date.Hour:   Value PG:LUN-server
        20110417.00:     8 1:a:sda
        20110417.01:    16 1:a:sda     8 1:b:sda
        20110417.02:    24 1:a:sda    16 1:b:sda     8 1:c:sda
        ");
    }

    #[test]
    fn a_repaired_component_begins_again_at_its_time() {
        let feedback = Feedback { events: vec![said(FeedbackKind::Repaired, "a:sda", Some(90), None)] };
        insta::assert_snapshot!(lists(&feedback, 3), @r"
        Date.Hour:   Value PG:LUN-server
        20110417.00:     8 1:a:sda
        20110417.01:     8 1:b:sda     4 1:a:sda
        20110417.02:    16 1:b:sda    12 1:a:sda     8 1:c:sda
        ");
    }

    #[test]
    fn ignored_components_make_room_for_others() {
        let events = vec![
            said(FeedbackKind::Snooze, "a", Some(70), Some(130)),
            said(FeedbackKind::Ignore, "b:sda", Some(121), None),
        ];
        insta::assert_snapshot!(lists(&Feedback { events }, 1), @r"
        Date.Hour:   Value PG:LUN-server
        20110417.00:     8 1:a:sda
        20110417.01:     8 1:b:sda
        20110417.02:    24 1:a:sda
        ");
    }

    #[test]
    fn a_component_that_is_always_ignored_is_never_listed() {
        let events = vec![
            said(FeedbackKind::Ignore, "a:sda", None, None),
            said(FeedbackKind::Ignore, "b", None, None),
        ];
        insta::assert_snapshot!(lists(&Feedback { events }, 1), @r"
        Date.Hour:   Value PG:LUN-server
        20110417.00:
        20110417.01:
        20110417.02:     8 1:c:sda
        ");
    }
}
