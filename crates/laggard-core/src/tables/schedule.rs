//! The sampling interval of a recording, and its offset from the multiples of the interval.

use crate::model::time::{Span, Timestamp};

/// Samples come every `every`, `phase` after its multiples since 1970 (before them, if negative).
///
/// laggard's own recordings have no phase. Imported ones do: a job that starts at 12:00:05 and samples every 10 s is always
/// half a step off; without its phase, samples would be assigned to varying instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplingSchedule {
    pub every: Span,
    /// At most half of `every` in either direction.
    pub phase: Span,
}

/// No recording is more frequent; two closer samples are not consecutive.
const SHORTEST: Span = Span::from_millis(100);

impl SamplingSchedule {
    pub fn on_grid(every: Span) -> SamplingSchedule {
        SamplingSchedule { every, phase: Span::ZERO }
    }

    /// The schedule of one component's samples, in any order: with the stated interval, otherwise with their median distance.
    /// None if there are too few samples.
    pub fn of(times: &[i64], stated: Option<Span>) -> Option<SamplingSchedule> {
        let every = stated.or_else(|| median_distance(times).map(rounded))?.max(SHORTEST);
        let first = *times.first()?;
        let (step, half) = (every.micros(), every.micros() / 2);
        // Relative to the first sample, so that a phase close to half a step does not split.
        let offset = |time: &i64| (time.saturating_sub(first).saturating_add(half)).rem_euclid(step) - half;
        let typical = first.saturating_add(median(times.iter().map(offset).collect())?);
        let phase = typical.saturating_add(half).rem_euclid(step) - half;
        Some(SamplingSchedule { every, phase: Span::from_micros(phase) })
    }

    /// The multiple of the interval that a sample belongs to.
    pub fn instant(&self, time: i64) -> Timestamp {
        Timestamp::from_micros(time.saturating_sub(self.phase.micros())).nearest(self.every)
    }
}

fn median_distance(times: &[i64]) -> Option<Span> {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.dedup();
    median(times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect()).map(Span::from_micros)
}

/// Intervals are whole seconds or tenths of one. Jitter must not turn 10 s into 10.02 s.
fn rounded(distance: Span) -> Span {
    let unit = if distance < Span::SECOND { SHORTEST } else { Span::SECOND };
    let units = distance.micros().saturating_add(unit.micros() / 2) / unit.micros();
    unit * units
}

/// Of an even number, the lower of the middle two.
fn median(mut values: Vec<i64>) -> Option<i64> {
    let middle = values.len().checked_sub(1)? / 2;
    Some(*values.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(seconds: &[f64]) -> Option<SamplingSchedule> {
        let times: Vec<i64> = seconds.iter().map(|s| (s * 1e6) as i64).collect();
        SamplingSchedule::of(&times, None)
    }

    #[test]
    fn the_interval_is_the_median_distance() {
        assert_eq!(schedule(&[0.0, 600.0, 1201.0, 1800.0, 9000.0]).unwrap().every, Span::from_seconds(600));
        assert_eq!(schedule(&[7.0]), None);
        assert_eq!(schedule(&[]), None);
    }

    #[test]
    fn samples_half_a_step_off_stay_together() {
        let jittery = [5.0, 15.02, 24.98, 35.0, 44.99, 55.01];
        let schedule = schedule(&jittery).unwrap();
        assert_eq!(schedule.every, Span::from_seconds(10));
        let times: Vec<i64> = jittery.iter().map(|s| (s * 1e6) as i64).collect();
        let instants: Vec<i64> = times.iter().map(|&t| schedule.instant(t).micros() / 10_000_000).collect();
        let first = instants[0];
        assert_eq!(instants, (first..first + 6).collect::<Vec<_>>());
    }

    #[test]
    fn the_interval_has_a_lower_limit() {
        let schedule = schedule(&[1.0, 1.000001, 1.000002, 80000.0]).unwrap();
        assert_eq!(schedule.every, SHORTEST);
    }

    #[test]
    fn times_at_the_ends_of_the_range_do_no_harm() {
        let schedule = SamplingSchedule::of(&[i64::MIN, 0, i64::MAX], None).unwrap();
        schedule.instant(i64::MIN);
        schedule.instant(i64::MAX);
    }
}
