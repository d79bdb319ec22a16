//! Components that take turns: what many of them do at different times is ordinary for the system, not a fault.
//! In: the anomalous windows of all components. Out: for each episode, true if others had the like at other times.
//! Always: an episode that lasted longer, or was more severe, than those of the others is not ordinary.

use std::collections::{BTreeMap, BTreeSet};

use super::episodes::{AnomalousRun, Episode, Tracker};
use crate::model::metric::MetricId;

/// Others that have to show the like. Latency varies, so that two may be slow by chance; a system in which another
/// component was idle as well does not use all of them all the time.
const OTHERS: usize = 3;
const OTHERS_IDLE: usize = 1;

/// A score, and a length of windows, of at least this share is the like of it. The last windows of a recording are shorter.
const ALIKE: f64 = 0.7;

/// For each episode, true if it is ordinary.
pub fn ordinary(tracker: &Tracker, episodes: &[Episode]) -> Vec<bool> {
    let mut runs: BTreeMap<MetricId, Vec<AnomalousRun>> = BTreeMap::new();
    for run in tracker.runs() {
        runs.entry(run.metric).or_default().push(run);
    }
    episodes.iter().map(|episode| is_ordinary(&runs, tracker, episode)).collect()
}

fn is_ordinary(runs: &BTreeMap<MetricId, Vec<AnomalousRun>>, tracker: &Tracker, episode: &Episode) -> bool {
    let metric = episode.metric.id;
    let needed = if matches!(metric, MetricId::Idleness | MetricId::Activity) { OTHERS_IDLE } else { OTHERS };
    let own = tracker.runs_of(episode.component).filter(|run| run.metric == metric && run.is_faulty);
    let mut during = own.filter(|run| run.begin < episode.end && episode.begin < run.end).peekable();
    let mut is_alike = |run: AnomalousRun| {
        let like_it = runs.get(&metric).into_iter().flatten().filter(|other| {
            let length = |run: &AnomalousRun| run.length.seconds();
            let is_as_long = length(other) >= ALIKE * length(&run) && length(&run) >= ALIKE * length(other);
            let is_apart = other.end <= run.begin || run.end <= other.begin;
            other.component != run.component && is_as_long && is_apart && other.peak >= ALIKE * run.peak
        });
        let others: BTreeSet<usize> = like_it.map(|other| other.component).take(64).collect();
        others.len() >= needed
    };
    during.peek().is_some() && during.all(&mut is_alike)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::{Span, Timestamp};
    use crate::scores::{MemberScore, MetricScores, ScoredWindow, Window};

    const MINUTE: Span = Span::from_seconds(60);

    /// Component k of five has a spell of windows of five minutes at minute 60 k, with this score.
    fn tracker(spells: &[f32], long: Option<usize>) -> Tracker {
        let mut tracker = Tracker::new(Some(MINUTE * 5));
        let mut windows = Vec::new();
        for n in 0..60 {
            let scores = (0..5).map(|k| {
                let is_long = long == Some(k) && (k * 12..k * 12 + 40).contains(&n);
                let score = if n / 12 == k || is_long { spells[k] } else { 0.0 };
                MemberScore { score, threshold: 1.0, is_anomalous: score > 1.0, is_faulty: score > 1.5 }
            });
            let window = Window { start: Timestamp::from_seconds(300 * n as i64), length: MINUTE * 5 };
            windows.push(ScoredWindow { window, scores: scores.collect() });
        }
        let metric = MetricId::Await.metric();
        tracker.take(0, &[0, 1, 2, 3, 4], &MetricScores { metric, windows });
        tracker
    }

    #[test]
    fn five_that_take_turns_are_ordinary_and_one_that_is_worse_is_not() {
        let tracker = tracker(&[2.0, 2.1, 2.2, 2.3, 9.0], None);
        let episodes = tracker.episodes();
        assert_eq!(ordinary(&tracker, &episodes), [true, true, true, true, false]);
    }

    #[test]
    fn a_single_spell_is_not_ordinary() {
        let tracker = tracker(&[0.0, 0.0, 2.0, 0.0, 0.0], None);
        assert_eq!(ordinary(&tracker, &tracker.episodes()), [false]);
    }
}
