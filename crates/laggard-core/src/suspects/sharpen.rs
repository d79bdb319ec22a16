//! Begin and end of an episode from the samples themselves: windows are too coarse for that.
//! In: an [`Episode`] and how much worse than its peers its component was at each time. Out: the part of it that is worse.
//! Always: an episode never becomes empty, and does not move away from its windows.

use std::ops::Range;

use super::episodes::{Episode, PAUSE};
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};

/// How much worse than its peers a component was in consecutive, equal times; NaN where it is not known.
#[derive(Clone, Debug)]
pub struct Course {
    /// The begin of the first.
    pub start: Timestamp,
    /// The length of each.
    pub bucket: Span,
    /// Each value is a mean over this much more time than a bucket.
    pub smoothing: Span,
    pub excess: Vec<f64>,
}

/// Sets the begin and end of an episode to the time in which it is worse than a quarter of its usual excess: faults grow.
pub fn sharpen(episode: &mut Episode, course: &Course) {
    let at = |bucket: usize| course.start + course.bucket * bucket as i64;
    let is_within = |bucket: usize| at(bucket) < episode.end && episode.begin < at(bucket + 1);
    let within =
        course.excess.iter().enumerate().filter(|(bucket, excess)| is_within(*bucket) && !excess.is_nan());
    let mut usual: Vec<f64> = within.map(|(_, excess)| *excess).collect();
    usual.sort_by(f64::total_cmp);
    // Most of a window may be calm: the usual excess is that of the worse half.
    let Some(&usual) = usual.get(usual.len() * 3 / 4).filter(|usual| **usual > 0.0) else { return };
    let least = usual / 4.0;
    let pause = (PAUSE.micros() / course.bucket.micros().max(1)) as usize;
    let times = worse_times(&course.excess, least, pause);
    let common =
        |&(first, last): &(usize, usize)| at(last + 1).min(episode.end) - at(first).max(episode.begin);
    let Some((first, last)) = times.into_iter().max_by_key(common) else { return };
    let (begin, end) = (at(first), at(last + 1));
    if begin < episode.end && episode.begin < end {
        (episode.begin, episode.end) = (begin, end);
        episode.uncertainty = course.uncertainty(usual).min(end - begin);
    }
}

/// Noise as large as a change hides where it begins for up to this many buckets. The number grows with the square of the noise,
/// as the error of a mean shrinks with the root of its samples. The tests of verdicts measure how often it holds.
const HIDDEN_BUCKETS: f64 = 10.0;
/// The median distance of two normal deviates is this many deviations.
const MEDIAN_DISTANCE: f64 = 0.954;

impl Course {
    /// How far the begin or end of a change by `excess` may be off.
    fn uncertainty(&self, excess: f64) -> Span {
        let pairs = self.excess.windows(2).map(|pair| (pair[1] - pair[0]).abs());
        let mut distances: Vec<f64> = pairs.filter(|distance| !distance.is_nan()).collect();
        distances.sort_by(f64::total_cmp);
        let noise = distances.get(distances.len() / 2).map_or(0.0, |distance| distance / MEDIAN_DISTANCE);
        let hidden = HIDDEN_BUCKETS * (noise / excess).powi(2);
        let bucket = self.bucket.micros() as f64;
        Span::from_micros((bucket * (1.0 + hidden)) as i64) + self.smoothing
    }
}

/// Latencies over minutes show when a device stalls, but not to the second. Where samples say the same for most of the time,
/// their begin and end hold.
pub fn align_minutes(episodes: &mut [Episode]) {
    let times: Vec<(usize, Timestamp, Timestamp, Span)> = episodes
        .iter()
        .filter(|episode| episode.metric.id == MetricId::Await)
        .map(|episode| (episode.component, episode.begin, episode.end, episode.uncertainty))
        .collect();
    for episode in episodes.iter_mut().filter(|episode| episode.metric.id == MetricId::MinuteAwait) {
        let length = episode.end - episode.begin;
        let is_same = |(component, begin, end, _): &&(usize, Timestamp, Timestamp, Span)| {
            let common = (*end).min(episode.end) - (*begin).max(episode.begin);
            *component == episode.component && common * 2 >= length
        };
        if let Some(&(_, begin, end, uncertainty)) = times.iter().find(is_same) {
            (episode.begin, episode.end, episode.uncertainty) = (begin, end, uncertainty);
        }
    }
}

/// The times that are about as much worse as the worst one: a fault may return. With a short pause between them, they are
/// one.
fn worse_times(excess: &[f64], least: f64, pause: usize) -> Vec<(usize, usize)> {
    let Some(worst) = densest(excess, least, 0..excess.len()) else { return Vec::new() };
    let mut parts = Vec::new();
    alike(excess, least, 0..excess.len(), ALIKE * worst.sum, &mut parts);
    parts.sort_by_key(|part| part.first);
    let mut times: Vec<(usize, usize)> = Vec::new();
    for part in parts {
        match times.last_mut() {
            Some(last) if part.first - last.1 <= pause => last.1 = part.last,
            _ => times.push((part.first, part.last)),
        }
    }
    times
}

/// A part with this share of the worst part's sum is like it.
const ALIKE: f64 = 0.3;

/// Collects the parts with at least this sum.
fn alike(excess: &[f64], least: f64, range: Range<usize>, least_sum: f64, parts: &mut Vec<Part>) {
    let Some(part) = densest(excess, least, range.clone()).filter(|part| part.sum >= least_sum) else {
        return;
    };
    alike(excess, least, range.start..part.first, least_sum, parts);
    alike(excess, least, part.last + 1..range.end, least_sum, parts);
    parts.push(part);
}

/// Consecutive values, and their sum above `least`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    first: usize,
    last: usize,
    sum: f64,
}

/// The consecutive values of a range whose sum above `least` is highest.
fn densest(excess: &[f64], least: f64, range: Range<usize>) -> Option<Part> {
    let (mut best, mut sum, mut since): (Option<Part>, f64, usize) = (None, 0.0, range.start);
    for (at, excess) in range.clone().zip(&excess[range]).filter(|(_, excess)| !excess.is_nan()) {
        if sum <= 0.0 {
            (sum, since) = (0.0, at);
        }
        // One extreme value must not outweigh all others.
        sum += (excess - least).clamp(-least, least);
        if sum > 0.0 && best.is_none_or(|best| sum > best.sum) {
            best = Some(Part { first: since, last: at, sum });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worse_part_is_found_though_one_value_in_it_is_not() {
        let excess = [0.0, 0.1, 1.2, 1.0, 0.1, 1.1, f64::NAN, 0.9, 0.0, -0.1];
        assert_eq!(worse_times(&excess, 0.5, 0), [(2, 7)]);
    }

    #[test]
    fn a_fault_that_returns_soon_lasts_until_its_last_part() {
        let excess: Vec<f64> =
            (0..100).map(|n| if (10..15).contains(&n) || n >= 94 { 1.5 } else { 0.0 }).collect();
        assert_eq!(worse_times(&excess, 0.4, 90), [(10, 99)]);
        assert_eq!(worse_times(&excess, 0.4, 10), [(10, 14), (94, 99)]);
    }

    #[test]
    fn nothing_worse_has_no_part() {
        assert_eq!(worse_times(&[0.0, -1.0, f64::NAN], 0.5, 0), []);
    }
}
