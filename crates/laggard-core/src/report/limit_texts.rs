//! Detection limits in words.

use super::number::span;
use crate::diagnosis::detection_limit::{DetectionLimit, Pattern};
use crate::model::time::Span;

/// Slowdowns that a sentence names.
const MOST_NAMED: usize = 3;

/// `1.3x`, or `2 s`.
pub fn magnitude(pattern: Pattern, magnitude: f64) -> String {
    match pattern {
        Pattern::Constant | Pattern::Ramp => format!("{magnitude}x"),
        Pattern::Stalls => format!("{magnitude} s"),
    }
}

/// `1 h`, or `whole` for the duration of the recording.
pub fn whole_or_span(seconds: f64, is_whole: bool) -> String {
    if is_whole { "whole".into() } else { span(Span::from_micros((seconds * 1e6) as i64)) }
}

/// The limits in sentences: of slower disks, then of disks that freeze. Empty if there were no trials.
pub fn sentences(limits: &[DetectionLimit]) -> Vec<String> {
    slower(limits).into_iter().chain(freezing(limits)).collect()
}

/// `a disk 2x slower for 1 h would have been reported (10 of 10 trials)`.
pub fn text(limit: &DetectionLimit) -> String {
    let disk = disk(limit, limit.magnitude.unwrap_or(limit.largest_tried));
    let DetectionLimit { found, trials, .. } = limit;
    match (limit.magnitude, found) {
        (Some(_), _) => format!("{disk} would have been reported ({found} of {trials} trials)"),
        (None, 0) => format!("{disk} would not have been reported (0 of {trials} trials)"),
        (None, _) => format!("{disk} would have been reported in only {found} of {trials} trials"),
    }
}

fn disk(limit: &DetectionLimit, value: f64) -> String {
    let (value, duration) = (magnitude(limit.pattern, value), duration(limit));
    match limit.pattern {
        Pattern::Constant => format!("a disk {value} slower for {duration}"),
        Pattern::Ramp => format!("a disk that gets {value} slower within {duration}"),
        Pattern::Stalls => format!("a disk that freezes for {value} of every minute for {duration}"),
    }
}

fn duration(limit: &DetectionLimit) -> String {
    let length = whole_or_span(limit.duration_seconds, false);
    if limit.is_whole { format!("the whole {length}") } else { length }
}

/// "A disk 2x slower for 5 min (10 of 10 trials), or 1.3x for 1 h (9 of 10), would have been reported."
fn slower(limits: &[DetectionLimit]) -> Option<String> {
    let tried = limits.iter().filter(|limit| limit.pattern == Pattern::Constant && limit.trials > 0);
    let longest = tried.clone().next_back()?;
    let mut named: Vec<(f64, &DetectionLimit)> = Vec::new();
    for limit in tried {
        if let Some(magnitude) = limit.magnitude.filter(|m| named.last().is_none_or(|(last, _)| m < last)) {
            named.push((magnitude, limit));
        }
    }
    // The shortest duration, and the smallest magnitudes.
    let left_out = named.len().saturating_sub(MOST_NAMED);
    named.drain(1.min(named.len())..(1 + left_out).min(named.len()));
    let clauses: Vec<String> = named
        .iter()
        .enumerate()
        .map(|(number, (value, limit))| {
            let (slower, trials) = if number == 0 { (" slower", " trials") } else { ("", "") };
            let value = magnitude(Pattern::Constant, *value);
            format!("{value}{slower} for {} ({} of {}{trials})", duration(limit), limit.found, limit.trials)
        })
        .collect();
    Some(match clauses.as_slice() {
        [] => format!("Even {}: this recording cannot show slow disks.", text(longest)),
        [_] => capitalized(&format!("{}.", text(named[0].1))),
        [first @ .., last] => format!("A disk {}, or {last}, would have been reported.", first.join(", ")),
    })
}

/// The shortest duration in which stalls are found.
fn freezing(limits: &[DetectionLimit]) -> Option<String> {
    let mut found =
        limits.iter().filter(|limit| limit.pattern == Pattern::Stalls && limit.magnitude.is_some());
    found.next().map(|limit| capitalized(&format!("{}.", text(limit))))
}

fn capitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(found: &[(i64, Option<f64>)]) -> Vec<DetectionLimit> {
        let limit = |(number, &(minutes, magnitude)): (usize, &(i64, Option<f64>))| DetectionLimit {
            pattern: Pattern::Constant,
            duration_seconds: 60.0 * minutes as f64,
            is_whole: number + 1 == found.len(),
            magnitude,
            largest_tried: 5.0,
            trials: 10,
            found: if magnitude.is_some() { 9 } else { 0 },
            disks: 12,
            all_disks: 12,
        };
        found.iter().enumerate().map(limit).collect()
    }

    fn sentence(limits: &[DetectionLimit]) -> String {
        sentences(limits).join(" ")
    }

    #[test]
    fn a_sentence_names_smaller_magnitudes_for_longer_durations() {
        let some =
            limits(&[(5, None), (15, Some(2.0)), (60, Some(1.3)), (180, Some(1.3)), (300, Some(1.15))]);
        assert_eq!(
            sentence(&some),
            "A disk 2x slower for 15 min (9 of 10 trials), 1.3x for 1 h (9 of 10), or 1.15x for the whole 5 h (9 of \
             10), would have been reported."
        );
        let one = limits(&[(5, Some(1.5)), (15, Some(1.5))]);
        assert_eq!(sentence(&one), "A disk 1.5x slower for 5 min would have been reported (9 of 10 trials).");
    }

    #[test]
    fn a_recording_that_cannot_show_slow_disks_is_called_so() {
        let none = limits(&[(5, None), (10, None)]);
        assert_eq!(
            sentence(&none),
            "Even a disk 5x slower for the whole 10 min would not have been reported (0 of 10 trials): this recording \
             cannot show slow disks."
        );
        let mut some = none;
        some[1].found = 6;
        assert_eq!(
            sentence(&some),
            "Even a disk 5x slower for the whole 10 min would have been reported in only 6 of 10 trials: this recording \
             cannot show slow disks."
        );
        assert!(sentences(&[]).is_empty());
    }

    #[test]
    fn stalls_and_ramps_have_words_of_their_own() {
        let [mut limit] = <[DetectionLimit; 1]>::try_from(limits(&[(60, Some(2.0))])).unwrap();
        limit.pattern = Pattern::Stalls;
        assert_eq!(
            sentence(&[limit]),
            "A disk that freezes for 2 s of every minute for the whole 1 h would have been reported (9 of 10 trials)."
        );
        limit.pattern = Pattern::Ramp;
        assert!(text(&limit).starts_with("a disk that gets 2x slower within the whole 1 h"));
    }
}
