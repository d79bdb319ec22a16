//! Components that take turns: what many of them do at different times is ordinary for the system, not a fault.
//! In: the anomalous windows of all components. Out: for each episode, those that had the like at other times.
//! Always: an episode that lasted far longer, or was far more severe, than those of the others is not ordinary.
//!
//! The longest of many ordinary times is several times as long as most of them: their lengths are about exponentially
//! distributed.

use std::collections::{BTreeMap, BTreeSet};

use super::episodes::{AnomalousRun, Episode, Tracker};
use crate::model::cluster::PeerGroup;
use crate::model::metric::{Aspect, MetricId};
use crate::model::time::{Span, Timestamp};

/// Others that have to show the like. Latency varies, so that two may be slow by chance; a system in which another
/// component was idle as well does not use all of them all the time.
const OTHERS: usize = 3;
const OTHERS_IDLE: usize = 1;

/// The largest of n exponentially distributed amounts exceeds `ln n` means, and this many more, once in twenty times.
const RARE: f64 = 3.0;
/// If more than this share of a group differs from the others at the same time, it is not known which of them are as they should be.
const LARGEST_SHARE: f64 = 0.25;
const FEWEST_TOGETHER: usize = 4;
/// More of the others are not worth naming.
const MOST_NAMED: usize = 64;
/// A score, a length of windows, and a duration, of at least this share is the like of it. The last windows of a recording
/// are shorter.
const ALIKE: f64 = 0.7;
/// Those that follow each other have at most this share of the shorter one's time in common.
const COMMON: f64 = 0.25;

/// For each episode, the components that had the like at other times, or too many at the same time; none, if it is not ordinary.
/// The recording has samples between two `ends`.
pub fn ordinary(
    tracker: &Tracker,
    episodes: &[Episode],
    groups: &[PeerGroup],
    ends: (Timestamp, Timestamp),
) -> Vec<BTreeSet<usize>> {
    let mut known: BTreeMap<(usize, MetricId), Vec<&Episode>> = BTreeMap::new();
    for episode in episodes {
        known.entry((episode.component, episode.metric.id)).or_default().push(episode);
    }
    let mut runs: BTreeMap<MetricId, Vec<AnomalousRun>> = BTreeMap::new();
    for run in tracker.runs() {
        let of_component = known.get(&(run.component, run.metric)).map_or(&[][..], Vec::as_slice);
        runs.entry(run.metric).or_default().push(sharpened(run, of_component));
    }
    let all = Runs { runs, known, ends };
    let others = |episode: &Episode| {
        let members = groups.get(episode.group).map_or(usize::MAX, |group| group.members.len());
        all.with_the_like(episode).or_else(|| too_many(episode, episodes, members))
    };
    episodes.iter().map(|episode| others(episode).unwrap_or_default()).collect()
}

/// The other members of a group that are about as slow at the time of an episode, if there are too many of them.
fn too_many(episode: &Episode, episodes: &[Episode], members: usize) -> Option<BTreeSet<usize>> {
    let is_together = |other: &&Episode| {
        other.group == episode.group
            && other.metric == episode.metric
            && other.component != episode.component
            && other.peak >= ALIKE * episode.peak
            && !are_apart((other.begin, other.end), (episode.begin, episode.end))
    };
    let others: BTreeSet<usize> = episodes.iter().filter(is_together).map(|other| other.component).collect();
    let together = others.len() + 1;
    let is_too_many = together >= FEWEST_TOGETHER && together as f64 > LARGEST_SHARE * members as f64;
    (is_too_many && episode.metric.aspect == Aspect::Latency).then_some(others)
}

/// The part of a run that its component's episode confirms: windows are anomalous for a small part of them, too, so that the
/// runs of components that follow each other overlap.
fn sharpened(run: AnomalousRun, of_component: &[&Episode]) -> AnomalousRun {
    let is_of_run = |episode: &&&Episode| episode.begin < run.end && run.begin < episode.end;
    of_component.iter().find(is_of_run).map_or(run, |episode| AnomalousRun {
        begin: run.begin.max(episode.begin),
        end: run.end.min(episode.end),
        ..run
    })
}

struct Runs<'a> {
    runs: BTreeMap<MetricId, Vec<AnomalousRun>>,
    /// The episodes of each component and metric.
    known: BTreeMap<(usize, MetricId), Vec<&'a Episode>>,
    ends: (Timestamp, Timestamp),
}

impl Runs<'_> {
    fn with_the_like(&self, episode: &Episode) -> Option<BTreeSet<usize>> {
        let metric = episode.metric.id;
        let is_of_use = matches!(metric, MetricId::Idleness | MetricId::Activity);
        let needed = if is_of_use { OTHERS_IDLE } else { OTHERS };
        let runs = self.runs.get(&metric)?;
        let is_own = |run: &&AnomalousRun| {
            run.component == episode.component
                && run.is_faulty
                && run.begin < episode.end
                && episode.begin < run.end
        };
        let own: Vec<&AnomalousRun> = runs.iter().filter(is_own).collect();
        let own = of_short_windows(own, episode.end - episode.begin);
        if !is_of_use && let Some(others) = self.with_as_much(&own, runs, episode) {
            return Some(others);
        }
        let longest = own.iter().map(|run| run.length).max()?;
        let mut all = BTreeSet::new();
        for run in own {
            let is_alike = |other: &&AnomalousRun| {
                is_like(other, run)
                    && (run.length < longest || self.lasts_as_long(other, run))
                    && !self.is_at_the_same_time(other, episode)
            };
            let like_it = runs.iter().filter(is_alike);
            let others: BTreeSet<usize> = like_it.map(|other| other.component).take(MOST_NAMED).collect();
            if others.len() < needed {
                return None;
            }
            all.extend(others);
        }
        Some(all)
    }

    /// The others whose anomalous windows at other times amount to so much that the amount of an episode is not unlikely among
    /// them, in windows of any of its lengths. Some of them have to be about as severe.
    fn with_as_much(
        &self,
        own: &[&AnomalousRun],
        runs: &[AnomalousRun],
        episode: &Episode,
    ) -> Option<BTreeSet<usize>> {
        let amount = |run: &AnomalousRun| (run.end - run.begin).seconds() * run.mean;
        let mut all = BTreeSet::new();
        for length in own.iter().map(|run| run.length).collect::<BTreeSet<Span>>() {
            let of_length = || own.iter().filter(|run| run.length == length);
            let peak = of_length().map(|run| run.peak).fold(0.0, f64::max);
            let own: f64 = of_length().map(|run| amount(run)).sum();
            let mut others: BTreeMap<usize, f64> = BTreeMap::new();
            let mut severe: BTreeSet<usize> = BTreeSet::new();
            let is_other = |run: &&AnomalousRun| {
                run.length == length
                    && run.component != episode.component
                    && are_apart((run.begin, run.end), (episode.begin, episode.end))
                    && !self.is_at_the_same_time(run, episode)
            };
            for run in runs.iter().filter(is_other) {
                let most = others.entry(run.component).or_default();
                *most = most.max(amount(run));
                if run.peak >= ALIKE * peak {
                    severe.insert(run.component);
                }
            }
            let count = others.len() as f64;
            let mean = others.values().sum::<f64>() / count;
            if severe.len() < OTHERS || own > mean * (count.ln() + RARE) {
                return None;
            }
            all.extend(others.into_keys().take(MOST_NAMED));
        }
        Some(all)
    }

    /// Components that are slow together take no turns, although each has anomalous windows in which the other has none.
    fn is_at_the_same_time(&self, other: &AnomalousRun, episode: &Episode) -> bool {
        let of_other = self.known.get(&(other.component, other.metric)).map_or(&[][..], Vec::as_slice);
        of_other.iter().any(|one| !are_apart((one.begin, one.end), (episode.begin, episode.end)))
    }

    /// The windows of the greatest length cover an incident as a whole. One that the begin or the end of the recording
    /// cuts may have lasted longer.
    fn lasts_as_long(&self, other: &AnomalousRun, run: &AnomalousRun) -> bool {
        let seconds = |run: &AnomalousRun| (run.end - run.begin).seconds();
        let is_cut = other.begin - other.length < self.ends.0 || other.end + other.length > self.ends.1;
        is_cut || seconds(other) >= ALIKE * seconds(run)
    }
}

/// The runs in windows of at most half of an episode's duration; all, if there are none. Scores of longer windows depend on how
/// much of them it happens to fill.
fn of_short_windows(own: Vec<&AnomalousRun>, duration: Span) -> Vec<&AnomalousRun> {
    let is_short = |run: &&AnomalousRun| run.length * 2 <= duration;
    if own.iter().any(is_short) { own.into_iter().filter(is_short).collect() } else { own }
}

/// True if `other` is as severe as `run`, in windows as long, at another time.
fn is_like(other: &AnomalousRun, run: &AnomalousRun) -> bool {
    let length = |run: &AnomalousRun| run.length.seconds();
    let is_as_long = length(other) >= ALIKE * length(run) && length(run) >= ALIKE * length(other);
    let is_other = other.component != run.component;
    let are_apart = are_apart((other.begin, other.end), (run.begin, run.end));
    is_other && is_as_long && are_apart && other.peak >= ALIKE * run.peak
}

fn are_apart(one: (Timestamp, Timestamp), other: (Timestamp, Timestamp)) -> bool {
    let common = one.1.min(other.1) - one.0.max(other.0);
    let shorter = (one.1 - one.0).min(other.1 - other.0);
    common.seconds() <= COMMON * shorter.seconds()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scores::{MemberScore, MetricScores, ScoredWindow, Window};

    const MINUTE: Span = Span::from_seconds(60);
    const ENDS: (Timestamp, Timestamp) = (Timestamp::from_seconds(0), Timestamp::from_seconds(300 * 60));

    /// Component k of five has a spell of windows of five minutes at minute 60 k, with this score.
    fn tracker(spells: &[f32], long: Option<usize>) -> Tracker {
        let mut tracker = Tracker::new(Some(MINUTE * 5));
        let mut windows = Vec::new();
        for n in 0..60 {
            let scores = (0..5).map(|k| {
                let is_long = long == Some(k) && (k * 12..k * 12 + 40).contains(&n);
                let score = if n / 12 == k || is_long { spells[k] } else { 0.0 };
                let is_faulty = score > 1.5;
                MemberScore {
                    score,
                    threshold: 1.0,
                    is_anomalous: score > 1.0,
                    is_unlikely: is_faulty,
                    is_faulty,
                }
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
        let is_ordinary: Vec<bool> =
            ordinary(&tracker, &episodes, &[], ENDS).iter().map(|others| !others.is_empty()).collect();
        assert_eq!(is_ordinary, [true, true, true, true, false]);
    }

    #[test]
    fn components_that_are_slow_together_take_no_turns() {
        let tracker = tracker(&[2.0, 2.1, 2.2, 2.3, 2.2], None);
        let whole = |component: usize| Episode {
            component,
            group: 0,
            metric: MetricId::Await.metric(),
            begin: ENDS.0,
            end: ENDS.1,
            uncertainty: Span::ZERO,
            peak: 2.0,
            windows: 1,
            persistence: 1.0,
        };
        let episodes: Vec<Episode> = (0..5).map(whole).collect();
        assert_eq!(ordinary(&tracker, &episodes, &[], ENDS), vec![BTreeSet::new(); 5]);
    }

    #[test]
    fn a_single_spell_is_not_ordinary() {
        let tracker = tracker(&[0.0, 0.0, 2.0, 0.0, 0.0], None);
        assert_eq!(ordinary(&tracker, &tracker.episodes(), &[], ENDS), [BTreeSet::new()]);
    }

    #[test]
    fn turns_that_follow_each_other_directly_are_at_different_times() {
        let mut tracker = Tracker::new(Some(MINUTE * 30));
        // Windows of 30 minutes every 10 minutes are anomalous if they contain 5 minutes of a turn of an hour.
        let windows = (0..22).map(|n| {
            let scores = (0..4).map(|k| {
                let (begin, end) = (60 * k, 60 * (k + 1));
                let is_turn = 10 * n + 25 > begin && 10 * n + 5 < end;
                let score = if is_turn { 2.0 } else { 0.0 };
                MemberScore {
                    score,
                    threshold: 1.0,
                    is_anomalous: is_turn,
                    is_unlikely: is_turn,
                    is_faulty: is_turn,
                }
            });
            let window = Window { start: Timestamp::from_seconds(600 * n), length: MINUTE * 30 };
            ScoredWindow { window, scores: scores.collect() }
        });
        let metric = MetricId::Await.metric();
        tracker.take(0, &[0, 1, 2, 3], &MetricScores { metric, windows: windows.collect() });
        let turn = |component: usize, hours: i64| Episode {
            component,
            group: 0,
            metric,
            begin: Timestamp::from_seconds(3600 * component as i64),
            end: Timestamp::from_seconds(3600 * (component as i64 + hours)),
            uncertainty: Span::ZERO,
            peak: 2.0,
            windows: 1,
            persistence: 1.0,
        };
        let ends = (Timestamp::from_seconds(0), Timestamp::from_seconds(4 * 3600));
        let counts = |episodes: &[Episode]| -> Vec<usize> {
            ordinary(&tracker, episodes, &[], ends).iter().map(BTreeSet::len).collect()
        };
        assert_eq!(counts(&[turn(0, 1), turn(1, 1), turn(2, 1), turn(3, 1)]), [3, 3, 3, 3]);
    }
}
