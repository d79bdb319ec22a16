//! The slower and the faster half of a window's samples.

use crate::model::time::Span;

/// The share of the samples that is left out at the far end: a single hiccup is no limp.
const EXTREME: f64 = 0.05;

/// The means of both halves of a window's samples, without the extreme ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Halves {
    /// Of the higher half.
    pub upper: f64,
    /// Of the lower half.
    pub lower: f64,
}

/// What lasts no longer than this is one event, however many samples tell of it.
const BURST: Span = Span::from_seconds(10);
/// A burst is at most this part of a window: else it is what the window is about.
const LARGEST_PART: usize = 6;

/// Leaves out what is missing, and of samples that are `step` apart the worst burst: those next to each other that are
/// highest together. Who was slow once, however slow, need not be slow again.
pub fn leave_out_burst(samples: &mut Vec<f32>, step: Span) {
    samples.retain(|sample| !sample.is_nan());
    let most = usize::try_from(BURST.micros() / step.micros().max(1)).unwrap_or(usize::MAX);
    let len = most.min(samples.len() / LARGEST_PART);
    let sum = |burst: &[f32]| burst.iter().map(|&sample| f64::from(sample)).sum::<f64>();
    let mut now = sum(&samples[..len]);
    let (mut worst, mut begin) = (now, 0);
    for next in len..samples.len() {
        now += f64::from(samples[next]) - f64::from(samples[next - len]);
        if now > worst {
            (worst, begin) = (now, next + 1 - len);
        }
    }
    samples.drain(begin..begin + len);
}

impl Halves {
    /// Of samples, whose order is changed; NaN are left out. Nothing if there are none.
    pub fn of(samples: &mut Vec<f32>) -> Option<Halves> {
        samples.retain(|sample| !sample.is_nan());
        let len = samples.len();
        if len == 0 {
            return None;
        }
        samples.sort_unstable_by(f32::total_cmp);
        let cut = (len as f64 * EXTREME).floor() as usize;
        let (lower, upper) = (cut..len.div_ceil(2), len / 2..len - cut);
        Some(Halves { upper: mean(&samples[upper]), lower: mean(&samples[lower]) })
    }
}

fn mean(samples: &[f32]) -> f64 {
    samples.iter().map(|&sample| f64::from(sample)).sum::<f64>() / samples.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Span = Span::from_seconds(1);

    fn upper(samples: &[f32]) -> Option<f64> {
        Halves::of(&mut samples.to_vec()).map(|halves| halves.upper)
    }

    #[test]
    fn a_burst_is_left_out_wherever_it_is_and_a_second_one_is_not() {
        for begin in [0, 7, 15] {
            let mut samples = vec![0.0; 18];
            samples[begin..begin + 3].fill(5.0);
            leave_out_burst(&mut samples, SECOND);
            assert_eq!(samples, [0.0; 15]);
        }
        let mut samples = vec![0.0, 4.0, 0.0, 0.0, 0.0, 5.0, f32::NAN];
        leave_out_burst(&mut samples, SECOND);
        assert_eq!(samples, [0.0, 4.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn few_samples_and_means_of_a_quarter_of_a_minute_hold_no_burst() {
        for (len, seconds) in [(5, 1), (100, 15)] {
            let mut samples = vec![3.0; len];
            leave_out_burst(&mut samples, Span::from_seconds(seconds));
            assert_eq!(samples.len(), len);
        }
    }

    #[test]
    fn a_single_extreme_sample_does_not_count() {
        let mut samples = vec![0.0; 20];
        samples[7] = 9.0;
        assert_eq!(upper(&samples), Some(0.0));
    }

    #[test]
    fn slow_every_other_time_counts_in_full() {
        let samples: Vec<f32> = (0..20).map(|n| (n % 2) as f32).collect();
        assert_eq!(Halves::of(&mut samples.clone()), Some(Halves { upper: 1.0, lower: 0.0 }));
    }

    #[test]
    fn one_sample_speaks_for_itself_and_none_for_nothing() {
        assert_eq!(upper(&[0.5]), Some(0.5));
        assert_eq!(upper(&[f32::NAN]), None);
    }
}
