//! The means of the slower and the faster half of a window's samples.

use crate::model::time::Span;

/// The share of the samples that is discarded at each end: a single slow request is not a fault.
const EXTREME: f64 = 0.05;

/// The means of the higher and the lower half, without the extreme samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HalfMeans {
    pub(super) upper: f64,
    pub(super) lower: f64,
}

/// Anything up to this length is one event, regardless of the number of samples.
const BURST: Span = Span::from_seconds(10);
/// A burst is at most this fraction of a window. With few samples, the worst one is the event.
const LARGEST_FRACTION: usize = 6;
const FEWEST_SAMPLES: usize = 4;

/// Removes missing samples and the worst burst: the neighbouring samples, `step` apart, with the highest sum. One slow
/// event says nothing about the next.
pub(super) fn remove_burst(samples: &mut Vec<f32>, step: Span) {
    samples.retain(|sample| !sample.is_nan());
    let most = (BURST.micros().max(0) as usize).div_ceil(step.micros().max(1) as usize);
    let is_enough = samples.len() >= FEWEST_SAMPLES;
    let len = if is_enough { most.min(samples.len().div_ceil(LARGEST_FRACTION)) } else { 0 };
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

impl HalfMeans {
    /// Removes NaN and sorts the samples. None if there are none.
    pub(super) fn of(samples: &mut Vec<f32>) -> Option<HalfMeans> {
        samples.retain(|sample| !sample.is_nan());
        let len = samples.len();
        if len == 0 {
            return None;
        }
        samples.sort_unstable_by(f32::total_cmp);
        let cut = (len as f64 * EXTREME).floor() as usize;
        let (lower, upper) = (cut..len.div_ceil(2), len / 2..len - cut);
        Some(HalfMeans { upper: mean(&samples[upper]), lower: mean(&samples[lower]) })
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
        HalfMeans::of(&mut samples.to_vec()).map(|means| means.upper)
    }

    #[test]
    fn one_burst_is_removed_wherever_it_is_and_a_second_one_is_kept() {
        for begin in [0, 7, 15] {
            let mut samples = vec![0.0; 18];
            samples[begin..begin + 3].fill(5.0);
            remove_burst(&mut samples, SECOND);
            assert_eq!(samples, [0.0; 15]);
        }
        let mut samples = vec![0.0, 4.0, 0.0, 0.0, 0.0, 5.0, f32::NAN];
        remove_burst(&mut samples, SECOND);
        assert_eq!(samples, [0.0, 4.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_long_sample_is_one_event_and_three_samples_hold_none() {
        for (seconds, kept) in [(15, 3), (600, 3)] {
            let mut samples = vec![0.0, 2.0, 0.0, 0.0];
            remove_burst(&mut samples, Span::from_seconds(seconds));
            assert_eq!(samples, vec![0.0; kept]);
        }
        let mut samples = vec![0.0, 2.0, 0.0];
        remove_burst(&mut samples, SECOND);
        assert_eq!(samples.len(), 3);
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
        assert_eq!(HalfMeans::of(&mut samples.clone()), Some(HalfMeans { upper: 1.0, lower: 0.0 }));
    }

    #[test]
    fn one_sample_is_its_own_mean_and_no_samples_have_none() {
        assert_eq!(upper(&[0.5]), Some(0.5));
        assert_eq!(upper(&[f32::NAN]), None);
    }
}
