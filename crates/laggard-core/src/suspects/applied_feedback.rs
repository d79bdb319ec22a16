//! Feedback, applied to what a method finds.
//! In: verdicts and episodes. Out: those that are still open. Always: without feedback nothing changes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::episodes::Episode;
use super::feedback::Feedback;
use crate::model::cluster::Inventory;
use crate::model::component::Container;
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};
use crate::scores::{MemberScore, MetricScores};

/// Operators' feedback, applied to episodes.
#[derive(Clone, Debug)]
pub struct AppliedFeedback<'a> {
    inventory: &'a Inventory,
    feedback: &'a Feedback,
    /// The last repair of each component that had one.
    repairs: BTreeMap<usize, Timestamp>,
    /// The components that lead to each LUN.
    paths: BTreeMap<&'a str, Vec<usize>>,
    over: BTreeSet<usize>,
    ignored: BTreeSet<usize>,
}

impl<'a> AppliedFeedback<'a> {
    /// About the components of an inventory.
    pub fn new(inventory: &'a Inventory, feedback: &'a Feedback) -> AppliedFeedback<'a> {
        let repair = |(index, component)| Some((index, *feedback.repairs(component).last()?));
        let repairs = inventory.components.iter().enumerate().filter_map(repair).collect();
        let mut paths: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, component) in inventory.components.iter().enumerate() {
            if let Some(lun) = component.container(Container::Lun) {
                paths.entry(lun).or_default().push(index);
            }
        }
        AppliedFeedback {
            inventory,
            feedback,
            repairs,
            paths,
            over: BTreeSet::new(),
            ignored: BTreeSet::new(),
        }
    }

    pub fn inventory(&self) -> &'a Inventory {
        self.inventory
    }

    /// The scores that count after repairs: for a repaired component only windows that begin later. Those that
    /// reach back to before the repair would report the old fault again.
    pub fn counted<'j>(
        &mut self,
        members: &[usize],
        metric_scores: &'j MetricScores,
    ) -> Cow<'j, MetricScores> {
        if self.repairs.is_empty() {
            return Cow::Borrowed(metric_scores);
        }
        let repaired = |(place, &member): (usize, &usize)| {
            let of_any = self.meant(member, metric_scores.metric.id).filter_map(|c| self.repairs.get(&c));
            Some((place, member, *of_any.max()?))
        };
        let repaired: Vec<_> = members.iter().enumerate().filter_map(repaired).collect();
        if repaired.is_empty() {
            return Cow::Borrowed(metric_scores);
        }
        let mut metric_scores = metric_scores.clone();
        for scored in &mut metric_scores.windows {
            for (place, component, repair) in &repaired {
                let Some(verdict) = scored.scores.get_mut(*place) else { continue };
                let is_before = scored.window.start < *repair;
                if is_before && verdict.is_faulty {
                    self.over.insert(*component);
                }
                *verdict = after_repair(*verdict, is_before);
            }
        }
        Cow::Owned(metric_scores)
    }

    /// The episodes to report: not those that ended while their component was ignored.
    pub fn open(&mut self, mut episodes: Vec<Episode>) -> Vec<Episode> {
        episodes.retain(|episode| {
            let last = episode.end - Span::from_micros(1);
            let is_ignored = self
                .meant(episode.component, episode.metric.id)
                .any(|c| self.feedback.is_ignored(&self.inventory.components[c], last));
            if is_ignored {
                self.ignored.insert(episode.component);
            }
            !is_ignored
        });
        episodes
    }

    /// The components that feedback must name to cover a metric of a component: itself; and, for work that it may do in another's
    /// stead, any path to the same LUN.
    fn meant(&self, component: usize, metric: MetricId) -> impl Iterator<Item = usize> {
        let lun = self.inventory.components[component].container(Container::Lun);
        let paths = lun.filter(|_| metric == MetricId::Activity).and_then(|lun| self.paths.get(lun.as_str()));
        std::iter::once(component).chain(paths.into_iter().flatten().copied())
    }

    /// Names of components whose incidents before their repair are not reported.
    pub fn repaired(&self) -> Vec<&'a str> {
        self.names(&self.over)
    }

    /// Names of ignored components, whose incidents are not reported.
    pub fn ignored(&self) -> Vec<&'a str> {
        self.names(&self.ignored)
    }

    fn names(&self, components: &BTreeSet<usize>) -> Vec<&'a str> {
        components.iter().map(|&component| self.inventory.components[component].name.as_str()).collect()
    }
}

/// Later windows may still be called faulty for those before: after a repair only for what they show themselves.
fn after_repair(verdict: MemberScore, is_before: bool) -> MemberScore {
    let is_anomalous = verdict.is_anomalous && !is_before;
    MemberScore {
        is_anomalous,
        is_unlikely: verdict.is_unlikely && is_anomalous,
        is_faulty: verdict.is_faulty && is_anomalous,
        ..verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::{ClusterFile, Recorded};
    use crate::model::component::Kind;
    use crate::model::metric::Metric;
    use crate::scores::ScoredWindow;
    use crate::scores::Window;
    use crate::suspects::episodes::Tracker;
    use crate::suspects::feedback::{Event, FeedbackKind};

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_seconds(60 * minute)
    }

    fn inventory() -> Inventory {
        let recorded =
            |name: &str| Recorded { name: format!("{name}:sda"), kind: Kind::ATTACHMENT, host: name.into() };
        Inventory::new(&ClusterFile::default(), &["a", "b"].map(recorded))
    }

    fn feedback(word: FeedbackKind, from: i64, until: Option<i64>) -> Feedback {
        let (component, note, noted) = ("b".to_owned(), String::new(), at(0));
        Feedback {
            events: vec![Event { word, component, at: Some(at(from)), until: until.map(at), note, noted }],
        }
    }

    /// Windows of ten minutes; in those before `last` both components are faulty, in the next one still called so.
    fn metric_scores(last: i64, windows: i64) -> MetricScores {
        let scored = |number: i64| {
            let (is_anomalous, is_faulty) = (number < last, number <= last);
            let verdict =
                MemberScore { score: 3.0, threshold: 1.0, is_anomalous, is_unlikely: is_faulty, is_faulty };
            let window = Window { start: at(10 * number), length: Span::from_seconds(600) };
            ScoredWindow { window, scores: vec![verdict; 2] }
        };
        MetricScores { metric: Metric::named("await").unwrap(), windows: (0..windows).map(scored).collect() }
    }

    fn episodes(feedback: &Feedback, metric_scores: &MetricScores) -> Vec<(usize, i64, f64)> {
        let inventory = inventory();
        let mut applied = AppliedFeedback::new(&inventory, feedback);
        let mut tracker = Tracker::new(None);
        tracker.take(0, &[0, 1], &applied.counted(&[0, 1], metric_scores));
        let minute = |t: Timestamp| t.micros() / 60_000_000;
        let open = applied.open(tracker.episodes());
        open.iter().map(|e| (e.component, minute(e.begin), e.persistence)).collect()
    }

    #[test]
    fn without_feedback_nothing_changes() {
        let (inventory, feedback, metric_scores) = (inventory(), Feedback::default(), metric_scores(6, 6));
        let mut applied = AppliedFeedback::new(&inventory, &feedback);
        assert!(matches!(applied.counted(&[0, 1], &metric_scores), Cow::Borrowed(_)));
        assert_eq!(episodes(&feedback, &metric_scores), [(0, 0, 6.0), (1, 0, 6.0)]);
    }

    #[test]
    fn an_episode_that_ended_before_a_repair_is_over() {
        assert_eq!(
            episodes(&feedback(FeedbackKind::Repaired, 60, None), &metric_scores(5, 12)),
            [(0, 0, 0.0)]
        );
        // The window that spans the repair says nothing, nor does the echo in the next one.
        assert_eq!(episodes(&feedback(FeedbackKind::Repaired, 45, None), &metric_scores(5, 6)).len(), 1);
    }

    #[test]
    fn an_episode_that_continues_after_a_repair_is_new() {
        let open = episodes(&feedback(FeedbackKind::Repaired, 45, None), &metric_scores(12, 12));
        assert_eq!(open, [(0, 0, 12.0), (1, 50, 7.0)]);
    }

    #[test]
    fn an_episode_that_ends_while_ignored_is_not_reported() {
        let metric_scores = metric_scores(6, 6);
        assert_eq!(episodes(&feedback(FeedbackKind::Ignore, 30, None), &metric_scores).len(), 1);
        assert_eq!(episodes(&feedback(FeedbackKind::Snooze, 30, Some(60)), &metric_scores).len(), 1);
        assert_eq!(episodes(&feedback(FeedbackKind::Snooze, 30, Some(50)), &metric_scores).len(), 2);
    }

    #[test]
    fn feedback_on_a_path_also_holds_for_paths_that_replace_it() {
        let file =
            ClusterFile::parse("[[component]]\nmatch = '{s}:{d}'\nattributes = { lun = '{d}' }\n").unwrap();
        let recorded =
            |name: &str| Recorded { name: format!("{name}:l1"), kind: Kind::ATTACHMENT, host: name.into() };
        let inventory = Inventory::new(&file, &["a", "b"].map(recorded));
        let episodes = |metric: &'static Metric, feedback: &Feedback| {
            let mut applied = AppliedFeedback::new(&inventory, feedback);
            let metric_scores = MetricScores { metric, ..metric_scores(6, 6) };
            let mut tracker = Tracker::new(None);
            tracker.take(0, &[0, 1], &applied.counted(&[0, 1], &metric_scores));
            let open = applied.open(tracker.episodes());
            open.into_iter().map(|episode| episode.component).collect::<Vec<_>>()
        };
        for feedback in [feedback(FeedbackKind::Ignore, 30, None), feedback(FeedbackKind::Repaired, 60, None)]
        {
            assert_eq!(episodes(MetricId::Activity.metric(), &feedback), [] as [usize; 0]);
            assert_eq!(episodes(MetricId::Idleness.metric(), &feedback), [0]);
        }
    }

    #[test]
    fn components_that_feedback_hides_are_listed() {
        let (inventory, feedback, metric_scores) =
            (inventory(), feedback(FeedbackKind::Repaired, 600, None), metric_scores(6, 6));
        let mut applied = AppliedFeedback::new(&inventory, &feedback);
        applied.counted(&[0, 1], &metric_scores);
        assert_eq!((applied.repaired(), applied.ignored()), (vec!["b:sda"], vec![]));
    }
}
