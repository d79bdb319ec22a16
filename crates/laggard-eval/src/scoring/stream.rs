//! Alarms of a method that follows a recording from its first sample: detected faults, delays, false alarms.
//! In: scores. Out: [`Alarms`] and rates. Always: a component counts as one false alarm at most; gaps in the recording
//! do not count as time.

use std::collections::BTreeMap;

use laggard_core::model::time::{Span, Timestamp};
use laggard_core::scores::MetricScores;
use laggard_core::scores::Window;
use serde::Serialize;

use super::confusion::share;
use super::sampled_time::SampledTime;
use super::truth::Truth;
use laggard_core::model::metric::MetricId;

/// By index of the fault: the time and the component of the first report.
pub(crate) type FirstReports = BTreeMap<usize, (Timestamp, usize)>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Alarms {
    pub first_reports: FirstReports,
    /// Healthy components that were reported, with the time of the first report.
    pub mistaken: BTreeMap<usize, Timestamp>,
    /// The latest period in which a component was faulty without a break, by component, metric and window length.
    periods: BTreeMap<(usize, MetricId, Span), FaultyPeriod>,
}

/// Consecutive faulty windows.
#[derive(Clone, Copy, Debug)]
struct FaultyPeriod {
    /// The end of the first window.
    since: Timestamp,
    /// The end of the last window.
    until: Timestamp,
}

/// The reported faults after a given amount of data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checkpoint {
    /// The amount of data; `None`: the whole recording.
    pub after: Option<Span>,
    /// The number of labelled faults.
    pub labelled: usize,
    /// The number of reported faults.
    pub named: usize,
    pub recall: Option<f64>,
    /// The number of healthy components that were reported.
    pub false_alarms: usize,
}

/// Time from the begin of a fault to its first report, in sampled time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delay {
    /// `None`: fewer than half of the faults were reported.
    pub median: Option<Span>,
    /// `None`: not all faults were reported.
    pub worst: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamScores {
    /// In the order of increasing data.
    #[serde(rename = "looks")]
    pub checkpoints: Vec<Checkpoint>,
    /// Suspects of the whole recording's report that no label concerns.
    pub false_alarms_per_1000_component_days: f64,
    /// Of the reported faults, to the first window that shows them; the earliest of all checkpoints counts.
    pub delay: Delay,
    /// Matthews' correlation coefficient of components, over the whole recording.
    pub component_mcc: Option<f64>,
}

impl Alarms {
    pub(crate) fn take(&mut self, truth: &Truth, members: &[usize], metric_scores: &MetricScores) {
        for scored in &metric_scores.windows {
            for (&component, _) in members.iter().zip(&scored.scores).filter(|(_, verdict)| verdict.is_faulty)
            {
                let since = self.faulty_since(component, metric_scores.metric.id, &scored.window);
                let mut is_right = false;
                for (number, fault) in truth.of(component).filter(|(_, t)| t.label.overlaps(&scored.window)) {
                    is_right = true;
                    // A component that was faulty before this fault began does not count as its detection.
                    if fault.label.begin.is_some_and(|begin| since <= begin) {
                        continue;
                    }
                    keep_first(&mut self.first_reports, number, (scored.window.end(), component));
                }
                if !is_right {
                    let first = self.mistaken.entry(component).or_insert(scored.window.end());
                    *first = (*first).min(scored.window.end());
                }
            }
        }
    }

    /// The begin of the period in which the component has been faulty up to this window.
    fn faulty_since(&mut self, component: usize, metric: MetricId, window: &Window) -> Timestamp {
        let period = self.periods.entry((component, metric, window.length));
        let new = FaultyPeriod { since: window.end(), until: window.end() };
        let period = period.and_modify(|period| {
            *period = if window.start <= period.until {
                FaultyPeriod { until: window.end(), ..*period }
            } else {
                new
            };
        });
        period.or_insert(new).since
    }

    pub(crate) fn checkpoint(&self, truth: &Truth, after: Option<Span>) -> Checkpoint {
        let (labelled, named) = (truth.faults.len(), self.first_reports.len());
        let recall = share(named as u64, labelled as u64);
        Checkpoint { after, labelled, named, recall, false_alarms: self.mistaken.len() }
    }
}

pub(crate) fn keep_first(reports: &mut FirstReports, fault: usize, first: (Timestamp, usize)) {
    reports.entry(fault).and_modify(|known| *known = (*known).min(first)).or_insert(first);
}

impl Delay {
    pub fn new(reports: &FirstReports, truth: &Truth, sampled_time: &SampledTime) -> Delay {
        let since = |(&fault, &(end, component)): (&usize, &(Timestamp, usize))| {
            let begin = truth.faults[fault].label.begin.unwrap_or(Timestamp::MIN);
            Some(sampled_time.between(sampled_time.group(component)?, begin, end))
        };
        let mut delays: Vec<Span> = reports.iter().filter_map(since).collect();
        delays.sort_unstable();
        let all = truth.faults.len();
        let of = |number: usize| delays.get(number).copied().filter(|_| all > 0);
        Delay { median: of(all.saturating_sub(1) / 2), worst: of(all.saturating_sub(1)) }
    }
}

pub(crate) fn per_1000_days(alarms: usize, component_days: f64) -> f64 {
    if component_days > 0.0 { 1000.0 * alarms as f64 / component_days } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::labels::parse;
    use crate::scoring::testing::{inventory, table};
    use laggard_core::model::metric::Metric;
    use laggard_core::scores::{MemberScore, ScoredWindow};

    /// Windows of a minute, with the faulty members of each.
    fn metric_scores(faulty: &[&[usize]]) -> MetricScores {
        let verdict =
            |is_faulty| MemberScore { score: 1.0, threshold: 1.0, is_anomalous: is_faulty, is_faulty };
        let windows = faulty.iter().enumerate().map(|(number, faulty)| ScoredWindow {
            window: Window {
                start: Timestamp::from_seconds(60 * number as i64),
                length: Span::from_seconds(60),
            },
            scores: (0..4).map(|member| verdict(faulty.contains(&member))).collect(),
        });
        MetricScores { metric: Metric::named("await").unwrap(), windows: windows.collect() }
    }

    #[test]
    fn faults_and_false_alarms_are_counted() {
        let inventory = inventory(&["a:1", "a:2", "a:3", "a:4"]);
        let text = "component,begin,end,cause\na:1,,,\na:2,1970-01-01T00:02:00Z,,\n";
        let (truth, _) = Truth::new(&inventory, &parse(text).unwrap());
        let mut sampled_time = SampledTime::new(&inventory);
        sampled_time.take(&[table(&["a:1", "a:2", "a:3", "a:4"], 15, &[[1.0; 20]; 4])]);
        let mut alarms = Alarms::default();
        alarms.take(&truth, &[0, 1, 2, 3], &metric_scores(&[&[0, 1], &[2], &[0, 2], &[1, 2], &[1]]));
        let checkpoint = alarms.checkpoint(&truth, None);
        assert_eq!((checkpoint.named, checkpoint.labelled, checkpoint.false_alarms), (2, 2, 2));
        let delay = Delay::new(&alarms.first_reports, &truth, &sampled_time);
        assert_eq!(
            (delay.median, delay.worst),
            (Some(Span::from_seconds(60)), Some(Span::from_seconds(120)))
        );
    }

    #[test]
    fn a_component_that_was_faulty_before_does_not_detect_a_new_fault() {
        let inventory = inventory(&["a:1", "a:2", "a:3", "a:4"]);
        let text = "component,begin,end,cause\na:1,1970-01-01T00:02:00Z,,\na:2,1970-01-01T00:02:00Z,,\n";
        let (truth, _) = Truth::new(&inventory, &parse(text).unwrap());
        let mut alarms = Alarms::default();
        alarms.take(&truth, &[0, 1, 2, 3], &metric_scores(&[&[], &[0, 1], &[0], &[0, 1], &[], &[0]]));
        let reported: Vec<i64> =
            alarms.first_reports.values().map(|(at, _)| at.micros() / 1_000_000).collect();
        assert_eq!(reported, [360, 240]);
    }

    #[test]
    fn without_a_report_there_is_no_worst_delay() {
        let inventory = inventory(&["a:1", "a:2", "a:3", "a:4"]);
        let (truth, _) =
            Truth::new(&inventory, &parse("component,begin,end,cause\na:1,,,\na:2,,,\n").unwrap());
        let mut sampled_time = SampledTime::new(&inventory);
        sampled_time.take(&[table(&["a:1", "a:2", "a:3", "a:4"], 15, &[[1.0; 8]; 4])]);
        let mut alarms = Alarms::default();
        alarms.take(&truth, &[0, 1, 2, 3], &metric_scores(&[&[0]]));
        let delay = Delay::new(&alarms.first_reports, &truth, &sampled_time);
        assert_eq!((delay.median, delay.worst), (Some(Span::from_seconds(60)), None));
    }

    #[test]
    fn alarms_are_a_rate_over_component_days() {
        assert_eq!(per_1000_days(2, 500.0), 4.0);
        assert_eq!(per_1000_days(2, 0.0), 0.0);
    }
}
