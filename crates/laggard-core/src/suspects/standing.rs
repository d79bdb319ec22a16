//! The persistence of the components of several peer groups, hour by hour.
//! In: the windows of each group. Out: [`Standing`]s at the end of each hour. Always: a component that is anomalous in one
//! metric is anomalous.

use std::collections::BTreeMap;

use super::persistence::Persistence;
use super::window_times::WindowTimes;
use crate::model::metric::Metric;
use crate::model::time::{Span, Timestamp};
use crate::scores::{MemberScore, Window};

pub(super) const HOUR: Span = Span::from_seconds(3600);

/// A window of a group with the scores of all its metrics.
#[derive(Clone, Debug)]
pub struct CountedWindow<'a> {
    pub window: Window,
    pub scores: Vec<(&'static Metric, &'a [MemberScore])>,
}

/// A component whose count is above 0 at the end of an hour.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The index of the component in the inventory.
    pub component: usize,
    /// The number of its group in [`Standings::take`].
    pub group: usize,
    pub persistence: Persistence,
    /// In the most telling metric: the one with the highest score of a window that called the component faulty, or else of
    /// any window. If the component was not anomalous in the hour, that of an earlier hour, without windows.
    pub anomalies: Anomalies,
}

/// The anomalous windows of a component in one metric in an hour.
#[derive(Clone, Debug, PartialEq)]
pub struct Anomalies {
    pub metric: &'static Metric,
    pub is_faulty: bool,
    /// The highest score, as a multiple of its threshold.
    pub peak: f64,
    pub times: WindowTimes,
}

/// Follows the windows of several groups.
#[derive(Clone, Debug, Default)]
pub struct Standings {
    groups: Vec<Group>,
    /// By hour and group.
    hours: BTreeMap<Timestamp, BTreeMap<usize, Vec<Standing>>>,
}

#[derive(Clone, Debug)]
struct Group {
    hour: Timestamp,
    members: Vec<Member>,
}

#[derive(Clone, Debug)]
struct Member {
    component: usize,
    persistence: Persistence,
    /// In the open hour, by metric.
    anomalies: Vec<Anomalies>,
}

impl Standings {
    /// Adds a group and returns its number.
    pub fn add_group(&mut self, components: &[usize]) -> usize {
        let member = |&component: &usize| Member {
            component,
            persistence: Persistence::default(),
            anomalies: Vec::new(),
        };
        self.groups.push(Group { hour: Timestamp::MIN, members: components.iter().map(member).collect() });
        self.groups.len() - 1
    }

    /// Takes windows of a group, in the order of their ends. Groups may come one after the other.
    pub fn take(&mut self, group: usize, windows: &[CountedWindow<'_>]) {
        let Some(of_group) = self.groups.get_mut(group) else { return };
        for windows in windows.chunk_by(|one, other| hour_of(one.window) == hour_of(other.window)) {
            let hour = hour_of(windows[0].window);
            of_group.begin(hour);
            windows.iter().for_each(|window| of_group.take(window));
            // More windows of the same hour may follow: they replace what is known of it.
            self.hours.entry(hour).or_default().insert(group, of_group.standings(group));
        }
    }

    /// A component was repaired after the windows so far.
    pub fn repaired(&mut self, component: usize) {
        let members = self.groups.iter_mut().flat_map(|group| &mut group.members);
        let of_it = members.filter(|member| member.component == component);
        of_it.for_each(|member| member.persistence.repaired());
    }

    /// All groups at the end of each hour.
    pub fn hours(self) -> impl Iterator<Item = (Timestamp, Vec<Standing>)> {
        self.hours.into_iter().map(|(hour, groups)| (hour, groups.into_values().flatten().collect()))
    }
}

impl Group {
    fn begin(&mut self, hour: Timestamp) {
        if self.hour != hour {
            self.hour = hour;
            self.members.iter_mut().for_each(Member::begin_hour);
        }
    }

    fn take(&mut self, counted: &CountedWindow<'_>) {
        for (place, member) in self.members.iter_mut().enumerate() {
            let scores =
                counted.scores.iter().filter_map(|(metric, scores)| Some((*metric, scores.get(place)?)));
            member.take(counted.window, scores);
        }
    }

    fn standings(&self, group: usize) -> Vec<Standing> {
        self.members.iter().filter_map(|member| member.standing(group)).collect()
    }
}

impl Member {
    fn begin_hour(&mut self) {
        let last = self.most_telling().map(|anomalies| Anomalies::new(anomalies.metric));
        self.anomalies = last.into_iter().collect();
    }

    fn take<'a>(&mut self, window: Window, scores: impl Iterator<Item = (&'static Metric, &'a MemberScore)>) {
        let mut is_anomalous = false;
        for (metric, score) in scores.filter(|(_, score)| score.is_anomalous) {
            is_anomalous = true;
            self.anomalies(metric).take(window, score);
        }
        self.persistence.take(window, is_anomalous);
    }

    fn anomalies(&mut self, metric: &'static Metric) -> &mut Anomalies {
        let known = self.anomalies.iter().position(|known| known.metric == metric);
        let at = known.unwrap_or_else(|| {
            self.anomalies.push(Anomalies::new(metric));
            self.anomalies.len() - 1
        });
        &mut self.anomalies[at]
    }

    fn most_telling(&self) -> Option<&Anomalies> {
        let key = |one: &Anomalies| (one.is_faulty, one.peak);
        self.anomalies.iter().max_by(|a, b| {
            let ((a_faulty, a_peak), (b_faulty, b_peak)) = (key(a), key(b));
            a_faulty.cmp(&b_faulty).then(a_peak.total_cmp(&b_peak))
        })
    }

    fn standing(&self, group: usize) -> Option<Standing> {
        let anomalies = self.most_telling().filter(|_| self.persistence.count > 0)?.clone();
        Some(Standing { component: self.component, group, persistence: self.persistence, anomalies })
    }
}

impl Anomalies {
    fn new(metric: &'static Metric) -> Anomalies {
        Anomalies { metric, is_faulty: false, peak: 0.0, times: WindowTimes::default() }
    }

    fn take(&mut self, window: Window, score: &MemberScore) {
        let threshold = f64::from(score.threshold).max(f64::MIN_POSITIVE);
        self.is_faulty |= score.is_faulty;
        self.peak = self.peak.max(f64::from(score.score) / threshold);
        self.times.take(window);
    }
}

/// A window that ends on the full hour belongs to the hour that ends there.
fn hour_of(window: Window) -> Timestamp {
    (window.end() - Span::from_micros(1)).floor(HOUR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::MetricId;

    /// The first hour of two components in two metrics, in windows of 15 minutes, one after the other.
    fn first_hour(scores: [[[f32; 2]; 4]; 2]) -> Vec<Standing> {
        let mut standings = Standings::default();
        let group = standings.add_group(&[7, 9]);
        let length = Span::from_seconds(900);
        let member = |&score: &f32| MemberScore {
            score,
            threshold: 2.0,
            is_anomalous: score > 2.0,
            is_unlikely: score > 8.0,
            is_faulty: score > 8.0,
        };
        let scores =
            scores.map(|of_metric| of_metric.map(|window| window.iter().map(member).collect::<Vec<_>>()));
        let metrics = [MetricId::Await.metric(), MetricId::Tps.metric()];
        for window in 0..4 {
            let start = Timestamp::from_seconds(900 * window as i64);
            let scores = [0, 1].map(|metric| (metrics[metric], &scores[metric][window][..])).to_vec();
            standings.take(group, &[CountedWindow { window: Window { start, length }, scores }]);
        }
        standings.hours().flat_map(|(_, standings)| standings).collect()
    }

    #[test]
    fn anomalous_in_several_metrics_is_anomalous_once() {
        let both = [
            [[3.0, 1.0], [1.0, 1.0], [3.0, 1.0], [3.0, 1.0]],
            [[3.0, 1.0], [3.0, 1.0], [1.0, 1.0], [3.0, 1.0]],
        ];
        let [standing] = &first_hour(both)[..] else { panic!("one component is anomalous") };
        assert_eq!((standing.component, standing.persistence.count), (7, 4));
    }

    #[test]
    fn the_metric_that_calls_it_faulty_is_more_telling_than_a_higher_score() {
        let at = Timestamp::from_seconds;
        let telling = |faulty: f32| {
            let scores = [[[1.0; 2], [1.0, faulty], [1.0, 4.0], [1.0; 2]], [[1.0, 6.0]; 4]];
            let anomalies = first_hour(scores).remove(0).anomalies;
            (anomalies.metric.id, anomalies.peak, anomalies.times.periods().to_vec())
        };
        assert_eq!(telling(10.0), (MetricId::Await, 5.0, vec![(at(900), at(2700))]));
        assert_eq!(telling(5.0), (MetricId::Tps, 3.0, vec![(at(0), at(3600))]));
    }
}
