//! Hourly lists of all groups of a recording, with what operators said applied at its time.
//! In: [`GroupScores`] groups, as they come. Out: [`HourLists`]. Always: a component that is anomalous in one metric is
//! anomalous; a repaired one begins at none; an ignored one has no place while it is.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::feedback::Feedback;
use super::ranked::{HourList, HourLists, Ranking};
use crate::evaluation::GroupScores;
use crate::model::cluster::{Inventory, PeerGroup};
use crate::model::time::{Span, Timestamp};
use crate::scores::{MetricScores, ScoredWindow};

/// Follows all groups of a recording.
#[derive(Debug)]
pub struct Listing<'a> {
    inventory: &'a Inventory,
    feedback: &'a Feedback,
    ranking: Ranking,
    /// By the group's index in the inventory.
    groups: BTreeMap<usize, Followed>,
    /// Components that feedback may hide, by name.
    hidden: HashMap<&'a str, usize>,
    /// Windows of this length are counted; all, if none is said.
    counted_length: Option<Span>,
    top: usize,
}

#[derive(Debug)]
struct Followed {
    number: usize,
    /// Repairs that are still to come.
    repairs: VecDeque<(Timestamp, Arc<str>)>,
}

const HOUR: Span = Span::from_seconds(3600);

impl<'a> Listing<'a> {
    /// Lists the first `top` of each hour. Groups are numbered from 1 in the order in which they are added.
    pub fn new(
        inventory: &'a Inventory,
        feedback: &'a Feedback,
        counted_length: Option<Span>,
        top: usize,
    ) -> Listing<'a> {
        let components = inventory.components.iter().enumerate();
        let hidden: HashMap<&str, usize> = components
            .filter(|(_, component)| feedback.is_ever_ignored(component))
            .map(|(index, component)| (component.name.as_str(), index))
            .collect();
        // Those that are hidden later must not push others off the list.
        let ranking = Ranking::new(top.saturating_add(hidden.len()));
        Listing { inventory, feedback, ranking, groups: BTreeMap::new(), hidden, counted_length, top }
    }

    /// Takes one more group, by its index in the inventory; gives the number it is listed by.
    pub fn add_group(&mut self, index: usize, group: &PeerGroup) -> usize {
        let component = |&member: &usize| &self.inventory.components[member];
        let members: Vec<Arc<str>> =
            group.members.iter().map(|m| component(m).name.as_str().into()).collect();
        let of_member = |(member, name): (&usize, &Arc<str>)| {
            let repairs = self.feedback.repairs(component(member));
            repairs.into_iter().map(|repair| (repair, name.clone())).collect::<Vec<_>>()
        };
        let mut repairs: Vec<_> = group.members.iter().zip(&members).flat_map(of_member).collect();
        repairs.sort();
        let shown = self.groups.len() + 1;
        let number = self.ranking.add_group(&shown.to_string(), members);
        self.groups.insert(index, Followed { number, repairs: repairs.into() });
        shown
    }

    /// Takes what a method says of a group.
    pub fn take(&mut self, verdicts: &GroupScores) {
        let Some(Followed { number, repairs }) = self.groups.get_mut(&verdicts.group) else { return };
        let windows = together(&verdicts.metrics, self.counted_length);
        let mut rest = &windows[..];
        while let Some((time, _)) = repairs.front() {
            let (before, after) = rest.split_at(rest.partition_point(|scored| scored.window.end() <= *time));
            self.ranking.take(*number, before);
            rest = after;
            if rest.is_empty() {
                return;
            }
            if let Some((_, component)) = repairs.pop_front() {
                self.ranking.repaired(&component);
            }
        }
        self.ranking.take(*number, rest);
    }

    /// The lists of all hours so far.
    pub fn lists(&self) -> HourLists {
        let HourLists(mut lists) = self.ranking.lists();
        lists.iter_mut().for_each(|list| self.leave_out(list));
        HourLists(lists)
    }

    /// A list is as things stand at the end of its hour; so is who is ignored.
    fn leave_out(&self, list: &mut HourList) {
        let last = list.hour + HOUR - Span::from_micros(1);
        let is_hidden = |name: &str| {
            let component = self.hidden.get(name).map(|&index| &self.inventory.components[index]);
            component.is_some_and(|component| self.feedback.is_ignored(component, last))
        };
        list.places.retain(|place| !is_hidden(&place.component));
        list.places.truncate(self.top);
    }
}

/// The windows of all metrics, in the order of their ends: anomalous in one is anomalous.
fn together(metrics: &[MetricScores], counted_length: Option<Span>) -> Vec<ScoredWindow> {
    let mut windows: BTreeMap<(Timestamp, Timestamp), ScoredWindow> = BTreeMap::new();
    let scored = metrics.iter().flat_map(|metric_scores| &metric_scores.windows);
    for scored in scored
        .filter(|scored| counted_length.is_none_or(|counted_length| counted_length == scored.window.length))
    {
        let key = (scored.window.end(), scored.window.start);
        windows.entry(key).and_modify(|known| join(known, scored)).or_insert_with(|| scored.clone());
    }
    windows.into_values().collect()
}

fn join(known: &mut ScoredWindow, other: &ScoredWindow) {
    for (verdict, other) in known.scores.iter_mut().zip(&other.scores) {
        verdict.is_anomalous |= other.is_anomalous;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::{ClusterFile, Recorded};
    use crate::model::component::Kind;
    use crate::model::metric::Metric;
    use crate::scores::MemberScore;
    use crate::scores::Window;
    use crate::suspects::feedback::{Event, FeedbackKind};

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
        let mut listing = Listing::new(&inventory, feedback, None, top);
        assert_eq!(listing.add_group(0, &inventory.groups[0]), 1);
        for first in [0, 8, 16] {
            let one = metric_scores("await", first, 8, [true, false, false]);
            let other = metric_scores("tps", first, 8, [true, first > 0, first == 16]);
            listing.take(&GroupScores { group: 0, metrics: vec![one, other] });
        }
        listing.lists().to_string()
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
