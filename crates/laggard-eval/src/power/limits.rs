//! The result: how often each slowdown was found, and the smallest ones that are found reliably.

use laggard_core::diagnosis::detection_limit::DetectionLimit;
use laggard_core::model::time::{Span, Timestamp};
use serde::Serialize;

use crate::overlay::Pattern;

/// The name and version of the JSON form.
const SCHEMA: &str = "laggard.power/1";

/// A slowdown counts as found if this share of its trials is.
const RELIABLE: f64 = 0.9;

/// The detection limits of a recording. Its JSON form is the contract of `power --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Power {
    pub schema: &'static str,
    pub method: String,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// The limits in a sentence, or the reason why there are none.
    pub summary: String,
    /// The share of trials from which on a slowdown counts as found.
    pub reliable_share: f64,
    pub groups: Vec<GroupPower>,
    /// Overlays that the limits were compared with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<OverlayResult>,
}

/// The detection limits of one peer group, or of several alike ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupPower {
    pub name: String,
    pub peer_groups: usize,
    pub members: usize,
    /// Active members, which slowdowns are tried on.
    pub candidates: usize,
    pub summary: String,
    pub limits: Vec<DetectionLimit>,
    pub detection_times: Vec<DetectionTime>,
    pub cells: Vec<Cell>,
}

/// The shortest tried duration after which a magnitude is found reliably.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DetectionTime {
    pub pattern: Pattern,
    pub magnitude: f64,
    pub duration_seconds: f64,
    pub is_whole: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    pub pattern: Pattern,
    pub duration_seconds: f64,
    pub magnitude: f64,
    pub trials: usize,
    pub found: usize,
}

/// The diagnosis of one overlay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverlayResult {
    /// The name of the group of limits.
    pub group: String,
    pub component: String,
    /// The slowdown, and how many trials found the same.
    pub cell: Cell,
    /// True if the magnitude is at or above the limit.
    pub is_predicted: bool,
    pub is_found: bool,
}

/// The trials of one pattern and duration.
pub(super) struct CellTrials<'a> {
    pub(super) pattern: Pattern,
    pub(super) duration: Span,
    pub(super) is_whole: bool,
    pub(super) magnitudes: &'a [f64],
    /// The number of the smallest magnitude found, for each trial.
    pub(super) smallest: Vec<usize>,
    /// Disks that are compared in each trial.
    pub(super) disks: usize,
}

impl CellTrials<'_> {
    fn found(&self, magnitude: usize) -> usize {
        self.smallest.iter().filter(|smallest| **smallest <= magnitude).count()
    }

    fn is_reliable(&self, magnitude: usize) -> bool {
        !self.smallest.is_empty() && self.found(magnitude) as f64 >= RELIABLE * self.smallest.len() as f64
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        self.magnitudes.iter().enumerate().map(|(number, &magnitude)| Cell {
            pattern: self.pattern,
            duration_seconds: self.duration.seconds(),
            magnitude,
            trials: self.smallest.len(),
            found: self.found(number),
        })
    }

    pub(super) fn limit(&self) -> DetectionLimit {
        let last = self.magnitudes.len() - 1;
        let reliable = (0..=last).find(|&number| self.is_reliable(number));
        DetectionLimit {
            pattern: self.pattern,
            duration_seconds: self.duration.seconds(),
            is_whole: self.is_whole,
            magnitude: reliable.map(|number| self.magnitudes[number]),
            largest_tried: self.magnitudes[last],
            trials: self.smallest.len(),
            found: self.found(reliable.unwrap_or(last)),
            disks: self.disks,
            all_disks: self.disks,
        }
    }
}

/// Of limits in the order of their durations.
pub(super) fn detection_times(
    limits: &[DetectionLimit],
    magnitudes: fn(Pattern) -> &'static [f64],
) -> Vec<DetectionTime> {
    let of_pattern = |pattern: Pattern| {
        magnitudes(pattern).iter().filter_map(move |&magnitude| {
            let mut own = limits.iter().filter(|limit| limit.pattern == pattern);
            let first = own.find(|limit| limit.magnitude.is_some_and(|smallest| smallest <= magnitude))?;
            let (duration_seconds, is_whole) = (first.duration_seconds, first.is_whole);
            Some(DetectionTime { pattern, magnitude, duration_seconds, is_whole })
        })
    };
    Pattern::ALL.into_iter().flat_map(of_pattern).collect()
}

impl Power {
    pub(super) fn new(method: &str, from: Timestamp, to: Timestamp, groups: Vec<GroupPower>) -> Power {
        let largest = groups.iter().max_by_key(|group| group.members);
        let summary = largest.map(|group| group.summary.clone()).unwrap_or_default();
        let (method, from, to) = (method.to_owned(), Some(from), Some(to));
        Power {
            schema: SCHEMA,
            method,
            from,
            to,
            summary,
            reliable_share: RELIABLE,
            groups,
            overlays: Vec::new(),
        }
    }

    /// The result where nothing could be evaluated.
    pub fn without_evaluation(method: &str, reason: String) -> Power {
        Power {
            schema: SCHEMA,
            method: method.to_owned(),
            from: None,
            to: None,
            summary: reason,
            reliable_share: RELIABLE,
            groups: Vec::new(),
            overlays: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(smallest: &[usize], minutes: i64) -> CellTrials<'static> {
        CellTrials {
            pattern: Pattern::Constant,
            duration: Span::from_seconds(60 * minutes),
            is_whole: false,
            magnitudes: &[1.2, 2.0, 5.0],
            smallest: smallest.to_vec(),
            disks: 12,
        }
    }

    #[test]
    fn a_magnitude_is_reliable_if_nine_of_ten_trials_find_it() {
        assert_eq!(trials(&[0, 0, 1, 1, 1, 1, 1, 1, 1, 3], 5).limit().magnitude, Some(2.0));
        assert_eq!(trials(&[0, 0, 1, 1, 1, 1, 1, 1, 2, 3], 5).limit().magnitude, Some(5.0));
        assert_eq!(trials(&[3, 3], 5).limit().magnitude, None);
        assert_eq!(trials(&[], 5).limit().magnitude, None);
    }

    #[test]
    fn more_is_found_of_larger_magnitudes() {
        let found: Vec<usize> = trials(&[0, 2, 1, 3], 5).cells().map(|cell| cell.found).collect();
        assert_eq!(found, [1, 2, 3]);
    }

    #[test]
    fn the_time_to_detection_is_the_shortest_duration() {
        let limits = [trials(&[2], 5).limit(), trials(&[1], 15).limit(), trials(&[1], 60).limit()];
        let times = detection_times(&limits, |pattern| match pattern {
            Pattern::Constant => &[1.2, 2.0, 5.0],
            _ => &[],
        });
        let found: Vec<(f64, f64)> =
            times.iter().map(|time| (time.magnitude, time.duration_seconds / 60.0)).collect();
        assert_eq!(found, [(2.0, 15.0), (5.0, 5.0)]);
    }
}
