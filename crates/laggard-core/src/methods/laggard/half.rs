//! The slower and the faster half of a window's samples.

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

    fn upper(samples: &[f32]) -> Option<f64> {
        Halves::of(&mut samples.to_vec()).map(|halves| halves.upper)
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
