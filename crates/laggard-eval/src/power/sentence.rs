//! Detection limits in words.

use laggard_core::model::time::Span;
use laggard_core::report::number::span;

use super::limits::Limit;
use crate::overlay::Pattern;

/// Limits that a sentence names.
const MOST_NAMED: usize = 3;

/// `1.3x`, or `2 s` of every minute.
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

/// "A disk 2 times slower for 5 min, or 1.3 times for 1 h, would have been reported."
pub(super) fn summary(limits: &[Limit], most: f64) -> String {
    let mut named: Vec<(f64, &Limit)> = Vec::new();
    for limit in limits.iter().filter(|limit| limit.pattern == Pattern::Constant) {
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
        .map(|(number, (magnitude, limit))| {
            let slower = if number == 0 { " slower" } else { "" };
            format!("{} times{slower} for {}", magnitude, duration(limit))
        })
        .collect();
    match clauses.as_slice() {
        [] => format!("A disk {} times slower would not have been reported.", most),
        [one] => format!("A disk {one} would have been reported."),
        [first @ .., last] => format!("A disk {}, or {last}, would have been reported.", first.join(", ")),
    }
}

fn duration(limit: &Limit) -> String {
    let length = whole_or_span(limit.duration_seconds, false);
    if limit.is_whole { format!("the whole {length}") } else { length }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(found: &[(i64, Option<f64>)]) -> Vec<Limit> {
        let limit = |(number, &(minutes, magnitude)): (usize, &(i64, Option<f64>))| Limit {
            pattern: Pattern::Constant,
            duration_seconds: 60.0 * minutes as f64,
            is_whole: number + 1 == found.len(),
            trials: 10,
            magnitude,
        };
        found.iter().enumerate().map(limit).collect()
    }

    #[test]
    fn a_sentence_names_smaller_magnitudes_for_longer_durations() {
        let some =
            limits(&[(5, None), (15, Some(2.0)), (60, Some(1.3)), (180, Some(1.3)), (300, Some(1.15))]);
        assert_eq!(
            summary(&some, 5.0),
            "A disk 2 times slower for 15 min, 1.3 times for 1 h, or 1.15 times for the whole 5 h, would have been \
             reported."
        );
        let one = limits(&[(5, Some(1.5)), (15, Some(1.5))]);
        assert_eq!(summary(&one, 5.0), "A disk 1.5 times slower for 5 min would have been reported.");
        let none = limits(&[(5, None)]);
        assert_eq!(summary(&none, 5.0), "A disk 5 times slower would not have been reported.");
    }
}
