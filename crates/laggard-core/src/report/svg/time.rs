//! From instants to pixels, with marks at round times of day in UTC.

use crate::model::time::{Span, Timestamp};

/// An axis of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeScale {
    /// The instant at the left.
    pub from: Timestamp,
    /// The instant at the right.
    pub to: Timestamp,
    /// The leftmost pixel.
    pub left: f64,
    /// The rightmost pixel.
    pub right: f64,
}

/// A mark: where, the time of day, and the date where it changed.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeMark {
    /// Pixels from the left.
    pub x: f64,
    /// `10:20`, or the date where marks are days apart.
    pub label: String,
    /// `2026-11-15`, under the first mark of a day.
    pub date: Option<String>,
}

const STEPS_SECONDS: [i64; 20] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800,
    432_000,
];
const DAY: i128 = 86_400_000_000;
const MOST_MARKS: i128 = 8;

impl TimeScale {
    /// The pixel of an instant, at the axis' end where it is beyond.
    pub fn at(&self, time: Timestamp) -> f64 {
        let length = (micros(self.to) - micros(self.from)) as f64;
        let share = (micros(time) - micros(self.from)) as f64 / length;
        let share = if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) };
        self.left + share * (self.right - self.left)
    }

    /// Round times to mark.
    pub fn marks(&self) -> Vec<TimeMark> {
        let length = micros(self.to) - micros(self.from);
        if length < 0 {
            return Vec::new();
        }
        let step = step(length);
        let first = micros(self.from).div_euclid(step) * step;
        let instants = (0..=MOST_MARKS + 1).map(|k| first + k * step);
        let inside = instants.filter(|t| (micros(self.from)..=micros(self.to)).contains(t));
        let times = inside.filter_map(|t| Some(Timestamp::from_micros(i64::try_from(t).ok()?)));
        self.labelled(times, step)
    }

    fn labelled(&self, times: impl Iterator<Item = Timestamp>, step: i128) -> Vec<TimeMark> {
        let mut last_date = String::new();
        let mut marks = Vec::new();
        for time in times {
            let (date, clock) = split(time);
            let date_mark = (date != last_date && step < DAY).then(|| date.clone());
            let label = if step < DAY { clock_label(&clock, step) } else { date.clone() };
            marks.push(TimeMark { x: self.at(time), label, date: date_mark });
            last_date = date;
        }
        marks
    }
}

fn micros(time: Timestamp) -> i128 {
    i128::from(time.micros())
}

fn step(length: i128) -> i128 {
    let enough = |step: &i128| length / step <= MOST_MARKS;
    let seconds = STEPS_SECONDS.iter().map(|s| i128::from(*s) * 1_000_000);
    let days = (1..20).flat_map(|power| [1, 2, 5].map(|digit| digit * 10i128.pow(power) * DAY));
    seconds.chain(days).find(enough).unwrap_or(length.max(1))
}

/// Date and time of day.
fn split(time: Timestamp) -> (String, String) {
    let text = time.floor(Span::SECOND).to_string();
    match text.trim_end_matches('Z').split_once('T') {
        Some((date, clock)) => (date.into(), clock.into()),
        None => (text, String::new()),
    }
}

fn clock_label(clock: &str, step: i128) -> String {
    let is_whole_minutes = step % 60_000_000 == 0;
    let digits = if is_whole_minutes { 5 } else { 8 };
    clock.get(..digits).unwrap_or(clock).into()
}

/// `10:20`, or `10:20:15` where minutes do not say it all.
pub fn clock(time: Timestamp) -> String {
    let (_, clock) = split(time);
    clock.strip_suffix(":00").unwrap_or(&clock).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::*;

    fn scale(from: &str, to: &str) -> TimeScale {
        TimeScale { from: from.parse().unwrap(), to: to.parse().unwrap(), left: 50.0, right: 900.0 }
    }

    fn labels(scale: &TimeScale) -> Vec<String> {
        let with_date = |mark: TimeMark| match mark.date {
            Some(date) => format!("{date} {}", mark.label),
            None => mark.label,
        };
        scale.marks().into_iter().map(with_date).collect()
    }

    #[test]
    fn marks_are_at_round_times_and_a_new_day_is_dated() {
        let night = scale("2026-11-15T21:10:00Z", "2026-11-16T02:50:00Z");
        let expected = ["2026-11-15 22:00", "23:00", "2026-11-16 00:00", "01:00", "02:00"].map(String::from);
        assert_eq!(labels(&night), expected);
    }

    #[test]
    fn short_spans_have_seconds_and_long_ones_dates() {
        assert_eq!(labels(&scale("2026-11-15T10:00:00Z", "2026-11-15T10:00:20Z"))[1], "10:00:05");
        assert_eq!(labels(&scale("2026-11-01", "2026-11-08"))[1], "2026-11-02");
        assert!(labels(&scale("2006-04-01", "2007-07-18")).len() >= 3);
    }

    proptest! {
        #[test]
        fn every_instant_lands_inside(from in any::<i64>(), to in any::<i64>(), time in any::<i64>()) {
            let at = Timestamp::from_micros;
            let scale = TimeScale { from: at(from), to: at(to), left: 50.0, right: 900.0 };
            prop_assert!((50.0..=900.0).contains(&scale.at(at(time))));
            prop_assert!(scale.marks().len() <= 10);
            prop_assert!(scale.marks().iter().all(|mark| (50.0..=900.0).contains(&mark.x)));
        }
    }
}
