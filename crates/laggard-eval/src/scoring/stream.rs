//! Reports of a recording from its first sample on: found faults, delays, false alarms.
//! In: reported faults and sampled time. Out: rates and delays. Always: gaps in the recording do not count as time.

use std::collections::BTreeMap;

use laggard_core::model::time::{Span, Timestamp};
use serde::Serialize;

use super::sampled_time::SampledTime;
use super::truth::Truth;

/// By index of the fault: the time and the component of the first anomalous window.
pub(crate) type FirstWindows = BTreeMap<usize, (Timestamp, usize)>;

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
    /// The number of suspects that no label concerns.
    pub false_alarms: usize,
}

/// Time from the begin of a fault until it is found, in sampled time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delay {
    /// `None`: fewer than half of the faults were found.
    pub median: Option<Span>,
    /// `None`: not all faults were found.
    pub worst: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamScores {
    /// In the order of increasing data.
    #[serde(rename = "looks")]
    pub checkpoints: Vec<Checkpoint>,
    /// Suspects of the whole recording's report that no label concerns.
    pub false_alarms_per_1000_component_days: f64,
    /// To the first checkpoint whose report names the fault.
    pub delay: Delay,
    /// Matthews' correlation coefficient of components, over the whole recording.
    pub component_mcc: Option<f64>,
}

/// A point of the curve of reported faults against false alarms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The threshold, as a multiple of the default.
    pub scale: f64,
    /// Over the whole recording.
    pub false_alarms_per_1000_component_days: f64,
    /// In the order of increasing data.
    #[serde(rename = "looks")]
    pub checkpoints: Vec<Checkpoint>,
}

impl Delay {
    /// Of the faults that were found, of `labelled` ones.
    pub(crate) fn new(mut delays: Vec<Span>, labelled: usize) -> Delay {
        delays.sort_unstable();
        let of = |number: usize| delays.get(number).copied().filter(|_| labelled > 0);
        Delay { median: of(labelled.saturating_sub(1) / 2), worst: of(labelled.saturating_sub(1)) }
    }

    /// To the end of the first anomalous window of each fault.
    pub(crate) fn of_windows(first: &FirstWindows, truth: &Truth, sampled_time: &SampledTime) -> Delay {
        let since = |(&fault, &(end, component)): (&usize, &(Timestamp, usize))| {
            let begin = truth.faults[fault].label.begin.unwrap_or(Timestamp::MIN);
            Some(sampled_time.between(sampled_time.group(component)?, begin, end))
        };
        Delay::new(first.iter().filter_map(since).collect(), truth.faults.len())
    }
}

pub(crate) fn keep_first(first: &mut FirstWindows, fault: usize, window: (Timestamp, usize)) {
    first.entry(fault).and_modify(|known| *known = (*known).min(window)).or_insert(window);
}

pub(crate) fn per_1000_days(alarms: usize, component_days: f64) -> f64 {
    if component_days > 0.0 { 1000.0 * alarms as f64 / component_days } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_report_there_is_no_worst_delay() {
        let spans = |seconds: &[i64]| seconds.iter().map(|&s| Span::from_seconds(s)).collect::<Vec<Span>>();
        let delay = Delay::new(spans(&[120, 60]), 2);
        assert_eq!(
            (delay.median, delay.worst),
            (Some(Span::from_seconds(60)), Some(Span::from_seconds(120)))
        );
        let delay = Delay::new(spans(&[60]), 2);
        assert_eq!((delay.median, delay.worst), (Some(Span::from_seconds(60)), None));
    }

    #[test]
    fn alarms_are_a_rate_over_component_days() {
        assert_eq!(per_1000_days(2, 500.0), 4.0);
        assert_eq!(per_1000_days(2, 0.0), 0.0);
    }
}
