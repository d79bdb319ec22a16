//! Times in which a component was unlike its peers.
//! In: scored windows, as they come. Out: [`Episode`]s. Always: an episode has a window that called the component
//! faulty; anomalous windows alone make none, but tell when it began and ended.

use std::collections::BTreeMap;

use super::window_times::WindowTimes;
use crate::model::metric::{Metric, MetricId};
use crate::model::time::{Span, Timestamp};
use crate::scores::{MemberScore, MetricScores, Window};

/// A time in which one metric of a component was unlike its peers'.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// The index of the component in the inventory.
    pub component: usize,
    /// The index of its group.
    pub group: usize,
    /// Which metric.
    pub metric: &'static Metric,
    /// Since when.
    pub begin: Timestamp,
    /// Until when.
    pub end: Timestamp,
    /// How far begin and end may be off.
    pub uncertainty: Span,
    /// The highest score of a window that called it faulty, as a multiple of its threshold.
    pub peak: f64,
    /// How many windows were anomalous, of those that are counted.
    pub windows: usize,
    /// How many more of the counted windows were anomalous than not, up to now, never below none.
    pub persistence: f64,
}

/// Windows of one length in which a metric of a component was anomalous, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnomalousRun {
    pub component: usize,
    pub metric: MetricId,
    pub length: Span,
    pub begin: Timestamp,
    pub end: Timestamp,
    /// The highest score, as a multiple of its threshold.
    pub peak: f64,
    /// The mean score of its windows.
    pub mean: f64,
    pub is_faulty: bool,
}

/// Gathers episodes.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    /// Windows of this length are counted; all, if none is said.
    counted_length: Option<Span>,
    /// By component, then by group and metric.
    tracks: BTreeMap<usize, BTreeMap<(usize, MetricId), Track>>,
    /// The times in which the groups were evaluated, by metric, in counted windows. A pause of the recording does not end
    /// an episode.
    evaluated: BTreeMap<(usize, MetricId), WindowTimes>,
}

/// One metric of one component.
#[derive(Clone, Debug)]
struct Track {
    metric: &'static Metric,
    runs: Vec<Run>,
    persistence: f64,
}

/// Windows of one length that were anomalous one after the other.
#[derive(Clone, Copy, Debug)]
struct Run {
    length: Span,
    begin: Timestamp,
    end: Timestamp,
    windows: usize,
    peak: f64,
    /// Of the windows' scores.
    sum: f64,
    /// The part in which the component was called faulty.
    faulty: Option<(Timestamp, Timestamp)>,
    /// The part that chance hardly explains.
    unlikely: Option<(Timestamp, Timestamp)>,
}

/// A run goes on over one window that is not anomalous.
const PAUSE_WINDOWS: i64 = 1;
/// Episodes no further apart are one: faults come and go.
pub(super) const PAUSE: Span = Span::from_seconds(1800);

impl Tracker {
    /// The length of the windows that are counted; an hour, if all are.
    pub fn counted_length(&self) -> Span {
        self.counted_length.unwrap_or(Span::from_seconds(3600))
    }

    /// Counts windows of that length, where there are several.
    pub fn new(counted_length: Option<Span>) -> Tracker {
        Tracker { counted_length, tracks: BTreeMap::new(), evaluated: BTreeMap::new() }
    }

    /// The same windows, where each whose score chance hardly explains makes its component faulty, however short or uneven.
    pub fn lenient(&self) -> Tracker {
        let mut lenient = self.clone();
        let tracks = lenient.tracks.values_mut().flat_map(BTreeMap::values_mut);
        tracks.flat_map(|track| &mut track.runs).for_each(|run| run.faulty = run.unlikely);
        lenient
    }

    /// Takes what a method says of a group: its number, its members, and one metric's windows.
    pub fn take(&mut self, group: usize, members: &[usize], metric_scores: &MetricScores) {
        for scored in &metric_scores.windows {
            let is_counted =
                self.counted_length.is_none_or(|counted_length| counted_length == scored.window.length);
            if is_counted {
                self.evaluated.entry((group, metric_scores.metric.id)).or_default().take(scored.window);
            }
            for (&component, verdict) in members.iter().zip(&scored.scores) {
                let key = (group, metric_scores.metric.id);
                // Called faulty though calm is the filter's memory of windows before: nothing new.
                if !verdict.is_anomalous {
                    if is_counted
                        && let Some(tracks) = self.tracks.get_mut(&component)
                        && let Some(track) = tracks.get_mut(&key)
                    {
                        track.count(is_counted, -1.0);
                    }
                    continue;
                }
                let tracks = self.tracks.entry(component).or_default();
                let track = tracks.entry(key).or_insert_with(|| Track::new(metric_scores.metric));
                track.count(is_counted, 1.0);
                let threshold = f64::from(verdict.threshold).max(f64::MIN_POSITIVE);
                track.anomalous(scored.window, f64::from(verdict.score) / threshold, *verdict);
            }
        }
    }

    /// The highest multiple of the threshold that a metric of a component had within a time, and in how many of the
    /// counted windows it was anomalous. Nothing if in none.
    pub fn peak(
        &self,
        component: usize,
        metric: MetricId,
        begin: Timestamp,
        end: Timestamp,
    ) -> Option<(f64, usize)> {
        let within: Vec<&Run> = self.within(component, metric, begin, end).collect();
        let peak = within.iter().map(|run| run.peak).max_by(f64::total_cmp)?;
        let counted = within
            .iter()
            .filter(|run| self.counted_length.is_none_or(|counted_length| counted_length == run.length));
        Some((peak, counted.map(|run| run.windows).sum::<usize>().max(1)))
    }

    /// The mean multiple of the threshold over a whole time, calm windows taken as nothing: of the windows of that
    /// length that say most. One stray window makes it no more than its share of the time.
    pub fn mean(&self, component: usize, metric: MetricId, begin: Timestamp, end: Timestamp) -> f64 {
        let mut sums: BTreeMap<Span, f64> = BTreeMap::new();
        for run in self.within(component, metric, begin, end) {
            let time = (run.end.min(end) - run.begin.max(begin)).min(run.length * run.windows as i64);
            // A window longer than the time also covers other times.
            let share = time.micros() as f64 / run.length.max(end - begin).micros().max(1) as f64;
            *sums.entry(run.length).or_default() += share * run.sum / run.windows as f64;
        }
        sums.into_values().fold(0.0, f64::max)
    }

    fn within(
        &self,
        component: usize,
        metric: MetricId,
        begin: Timestamp,
        end: Timestamp,
    ) -> impl Iterator<Item = &Run> {
        let of_component = self.tracks.get(&component).into_iter().flatten();
        let tracks = of_component.filter(move |((_, m), _)| *m == metric);
        let runs = tracks.flat_map(|(_, track)| &track.runs);
        runs.filter(move |run| run.begin < end && begin < run.end)
    }

    /// The anomalous windows of all components.
    pub fn runs(&self) -> impl Iterator<Item = AnomalousRun> + '_ {
        self.tracks.keys().flat_map(|&component| self.runs_of(component))
    }

    pub fn runs_of(&self, component: usize) -> impl Iterator<Item = AnomalousRun> + '_ {
        let tracks = self.tracks.get(&component).into_iter().flatten();
        tracks.flat_map(move |((_, metric), track)| {
            track.runs.iter().map(move |run| AnomalousRun {
                component,
                metric: *metric,
                length: run.length,
                begin: run.begin,
                end: run.end,
                peak: run.peak,
                mean: run.sum / run.windows as f64,
                is_faulty: run.faulty.is_some(),
            })
        })
    }

    /// The time of all windows that call an episode's component faulty and overlap the episode, and of the episode itself.
    pub fn faulty_time(&self, episode: &Episode) -> (Timestamp, Timestamp) {
        let is_of_episode = |run: &AnomalousRun| {
            run.metric == episode.metric.id
                && run.is_faulty
                && run.begin < episode.end
                && episode.begin < run.end
        };
        let runs = self.runs_of(episode.component).filter(is_of_episode);
        runs.fold((episode.begin, episode.end), |(begin, end), run| (begin.min(run.begin), end.max(run.end)))
    }

    /// The metrics in which a component was ever anomalous.
    pub fn metrics(&self, component: usize) -> Vec<&'static Metric> {
        let tracks = self.tracks.get(&component).into_iter().flatten();
        let mut metrics: Vec<&'static Metric> = tracks.map(|(_, track)| track.metric).collect();
        metrics.dedup();
        metrics
    }

    /// The end of the last counted window in which a metric of a group was evaluated.
    pub fn evaluated_until(&self, group: usize, metric: MetricId) -> Option<Timestamp> {
        self.evaluated.get(&(group, metric))?.periods().last().map(|(_, until)| *until)
    }

    /// All episodes, by component and time.
    pub fn episodes(&self) -> Vec<Episode> {
        let never = WindowTimes::default();
        let of_component = |(component, tracks): (&usize, &BTreeMap<(usize, MetricId), Track>)| {
            let of_track = |(key, track): (&(usize, MetricId), &Track)| {
                let evaluated = self.evaluated.get(key).unwrap_or(&never);
                track.episodes(*component, key.0, self.counted_length, evaluated)
            };
            tracks.iter().flat_map(of_track).collect::<Vec<Episode>>()
        };
        self.tracks.iter().flat_map(of_component).collect()
    }
}

impl Track {
    fn new(metric: &'static Metric) -> Track {
        Track { metric, runs: Vec::new(), persistence: 0.0 }
    }

    fn count(&mut self, is_counted: bool, one: f64) {
        if is_counted {
            self.persistence = (self.persistence + one).max(0.0);
        }
    }

    fn anomalous(&mut self, window: Window, score: f64, verdict: MemberScore) {
        let faulty = verdict.is_faulty.then_some((window.start, window.end()));
        let unlikely = verdict.is_unlikely.then_some((window.start, window.end()));
        let open = self.runs.iter_mut().rev().find(|run| run.length == window.length);
        match open.filter(|run| window.start - run.end <= run.length * PAUSE_WINDOWS) {
            Some(run) => {
                run.end = run.end.max(window.end());
                run.windows += 1;
                run.peak = run.peak.max(score);
                run.sum += score;
                run.faulty = joined(run.faulty, faulty);
                run.unlikely = joined(run.unlikely, unlikely);
            }
            None => self.runs.push(Run {
                length: window.length,
                begin: window.start,
                end: window.end(),
                windows: 1,
                peak: score,
                sum: score,
                faulty,
                unlikely,
            }),
        }
    }

    fn episodes(
        &self,
        component: usize,
        group: usize,
        counted_length: Option<Span>,
        evaluated: &WindowTimes,
    ) -> Vec<Episode> {
        let mut spans: Vec<(Timestamp, Timestamp, f64)> = self
            .runs
            .iter()
            .filter_map(|run| run.faulty.map(|(begin, end)| (begin, end, run.peak)))
            .collect();
        spans.sort_by_key(|span| (span.0, span.1));
        let mut merged: Vec<(Timestamp, Timestamp, f64)> = Vec::new();
        for (begin, end, peak) in spans {
            match merged.last_mut() {
                Some(last) if evaluated.between(last.1, begin) <= PAUSE => {
                    *last = (last.0, last.1.max(end), last.2.max(peak))
                }
                _ => merged.push((begin, end, peak)),
            }
        }
        let sharpened = merged.into_iter().flat_map(|(begin, end, peak)| {
            let parts = self.sharpened(begin, end, counted_length, evaluated);
            parts.into_iter().map(move |(begin, end)| (begin, end, peak))
        });
        sharpened.map(|span| self.episode((component, group), counted_length, span)).collect()
    }

    fn episode(
        &self,
        (component, group): (usize, usize),
        counted_length: Option<Span>,
        (begin, end, peak): (Timestamp, Timestamp, f64),
    ) -> Episode {
        let is_counted =
            |run: &&Run| counted_length.is_none_or(|counted_length| counted_length == run.length);
        let counted = self.runs.iter().filter(is_counted).filter(|run| run.begin < end && begin < run.end);
        let shortest = || self.runs.iter().map(|run| run.length).min();
        Episode {
            uncertainty: counted_length.or_else(shortest).unwrap_or(end - begin),
            component,
            group,
            metric: self.metric,
            begin,
            end,
            peak,
            windows: counted.map(|run| run.windows).sum::<usize>().max(1),
            persistence: self.persistence,
        }
    }

    /// The parts of a time that have many anomalous windows of the counted length for few others. A mild limp shows in some
    /// of them only, so a calm one takes off less than an anomalous one adds. A fault may return: parts that are about like
    /// the worst one count, and with a short pause between them they are one.
    fn sharpened(
        &self,
        begin: Timestamp,
        end: Timestamp,
        counted_length: Option<Span>,
        evaluated: &WindowTimes,
    ) -> Vec<(Timestamp, Timestamp)> {
        const CALM: f64 = 0.25;
        const ALIKE: f64 = 0.3;
        let mut runs: Vec<&Run> = self.runs.iter().filter(|run| run.begin < end && begin < run.end).collect();
        let Some(length) = counted_length.or(runs.iter().map(|run| run.length).min()) else {
            return vec![(begin, end)];
        };
        runs.retain(|run| run.length == length);
        runs.sort_by_key(|run| run.begin);
        let mut parts: Vec<DensePart> = Vec::new();
        let (mut sum, mut until) = (0.0, begin);
        for run in runs {
            let calm = evaluated.between(until, run.begin).micros() as f64 / length.micros() as f64;
            sum -= CALM * calm;
            let begins = sum <= 0.0;
            sum = sum.max(0.0) + run.windows as f64;
            until = run.end;
            match parts.last_mut() {
                Some(part) if !begins => {
                    if sum > part.most {
                        (part.most, part.until) = (sum, until);
                    }
                }
                _ => parts.push(DensePart { most: sum, since: run.begin, until }),
            }
        }
        let most = parts.iter().map(|part| part.most).fold(0.0, f64::max);
        parts.retain(|part| part.most >= ALIKE * most);
        let mut times: Vec<(Timestamp, Timestamp)> = Vec::new();
        for part in parts {
            let (since, until) = (part.since.max(begin - length), part.until.min(end + length));
            match times.last_mut() {
                Some(last) if since - last.1 <= PAUSE => last.1 = until,
                _ => times.push((since, until)),
            }
        }
        if times.is_empty() { vec![(begin, end)] } else { times }
    }
}

/// A time with many anomalous windows.
struct DensePart {
    /// The highest sum of its anomalous windows minus calm ones.
    most: f64,
    since: Timestamp,
    until: Timestamp,
}

fn joined(
    one: Option<(Timestamp, Timestamp)>,
    other: Option<(Timestamp, Timestamp)>,
) -> Option<(Timestamp, Timestamp)> {
    match (one, other) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scores::ScoredWindow;

    const MINUTE: Span = Span::from_seconds(60);

    fn scored(start_minute: i64, minutes: i64, score: f32, is_faulty: bool) -> ScoredWindow {
        let window = Window { start: Timestamp::from_seconds(60 * start_minute), length: MINUTE * minutes };
        let is_anomalous = score > 1.5;
        let verdict =
            MemberScore { score, threshold: 1.5, is_anomalous, is_unlikely: is_anomalous, is_faulty };
        ScoredWindow { window, scores: vec![verdict] }
    }

    fn episodes(windows: Vec<ScoredWindow>) -> Vec<(i64, i64, f64)> {
        let mut tracker = Tracker::new(Some(MINUTE * 5));
        let metric = Metric::named("await").unwrap();
        tracker.take(0, &[7], &MetricScores { metric, windows });
        let minute = |t: Timestamp| t.micros() / 60_000_000;
        tracker.episodes().iter().map(|e| (minute(e.begin), minute(e.end), e.persistence)).collect()
    }

    #[test]
    fn anomalous_windows_alone_are_not_an_episode() {
        assert_eq!(episodes((0..10).map(|n| scored(n * 5, 5, 3.0, false)).collect()), []);
    }

    #[test]
    fn an_hour_that_is_called_faulty_begins_where_its_minutes_do() {
        let mut windows: Vec<ScoredWindow> =
            (0..12).map(|n| scored(n * 5, 5, if n < 8 { 0.1 } else { 3.0 }, false)).collect();
        windows.push(scored(0, 60, 1.8, true));
        assert_eq!(episodes(windows), [(40, 60, 4.0)]);
    }

    /// An hour of which the minutes say the same.
    fn hour(number: i64, score: f32) -> Vec<ScoredWindow> {
        let minutes = (0..12).map(|n| scored(60 * number + 5 * n, 5, score, false));
        minutes.chain([scored(60 * number, 60, score, score > 1.5)]).collect()
    }

    #[test]
    fn a_single_window_counts_for_its_share_of_the_time() {
        let mean = |windows| {
            let mut tracker = Tracker::new(Some(MINUTE * 5));
            tracker.take(0, &[7], &MetricScores { metric: Metric::named("await").unwrap(), windows });
            tracker.mean(7, MetricId::Await, Timestamp::from_seconds(0), Timestamp::from_seconds(3600))
        };
        let stray = (0..12).map(|n| scored(n * 5, 5, if n == 4 { 6.0 } else { 0.1 }, false)).collect();
        assert!((mean(stray) - 4.0 / 12.0).abs() < 1e-6);
        assert!((mean(hour(0, 3.0)) - 2.0).abs() < 1e-6);
        assert!((mean(vec![scored(0, 120, 3.0, false)]) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn calm_windows_that_the_filter_calls_faulty_do_not_prolong_an_episode() {
        let scores = [0.1, 3.0, 3.0, 3.0, 3.0, 3.0, 0.1, 0.1, 0.1, 0.1];
        let echoing = |(n, score): (usize, &f32)| scored(n as i64 * 5, 10, *score, (3..8).contains(&n));
        let windows = scores.iter().enumerate().map(echoing).collect();
        let mut tracker = Tracker::new(None);
        tracker.take(0, &[7], &MetricScores { metric: Metric::named("await").unwrap(), windows });
        let episode = &tracker.episodes()[0];
        let at = |minute: i64| Timestamp::from_seconds(60 * minute);
        assert_eq!((episode.begin, episode.end), (at(5), at(35)));
        assert_eq!((episode.windows, episode.persistence), (5, 1.0));
    }

    #[test]
    fn a_fault_that_returns_after_hours_is_another_episode() {
        let windows = [hour(0, 2.0), hour(1, 0.0), hour(2, 0.0), hour(3, 2.0)].concat();
        assert_eq!(episodes(windows).len(), 2);
    }

    #[test]
    fn a_pause_of_the_recording_does_not_end_an_episode() {
        let windows = [hour(0, 2.0), hour(24, 2.0), hour(25, 2.0)].concat();
        assert_eq!(episodes(windows), [(0, 26 * 60, 36.0)]);
    }
}
