//! From values to pixels, linearly or by powers of ten, with marks at round numbers.

/// An axis of values. Pixels count downwards, so `bottom` is larger than `top`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The value at the bottom.
    pub low: f64,
    /// The value at the top.
    pub high: f64,
    /// From one mark to the next; nothing where equal distances are equal ratios, and marks powers of ten.
    pub step: Option<f64>,
    /// The pixel of the lowest value.
    pub bottom: f64,
    /// The pixel of the highest value.
    pub top: f64,
}

/// From this ratio of the largest to the smallest value on, a linear axis hides the small ones.
const LOG_FROM: f64 = 200.0;
const MARKS: f64 = 4.0;
const MOST_MARKS: usize = 12;

impl Scale {
    /// An axis that shows all finite values: from 0 where none is below, by powers of ten where they differ a lot.
    pub fn fitting(values: impl Iterator<Item = f64>, bottom: f64, top: f64) -> Scale {
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) =
            values.filter(|v| v.is_finite()).fold(start, |(low, high), v| (low.min(v), high.max(v)));
        match (low, high) {
            (low, high) if low > high => Scale { low: 0.0, high: 1.0, step: Some(0.5), bottom, top },
            (low, high) if low > 0.0 && high / low >= LOG_FROM => Scale::log(low, high, bottom, top),
            (low, high) => Scale::linear(low.min(0.0), high.max(0.0), bottom, top),
        }
    }

    fn linear(low: f64, high: f64, bottom: f64, top: f64) -> Scale {
        let high = if low == high { low + 1.0 } else { high };
        let step = step(low, high);
        let (wide_low, wide_high) = ((low / step).floor() * step, (high / step).ceil() * step);
        let low = if wide_low.is_finite() { wide_low } else { low };
        let high = if wide_high.is_finite() { wide_high } else { high };
        Scale { low, high, step: Some(step), bottom, top }
    }

    fn log(low: f64, high: f64, bottom: f64, top: f64) -> Scale {
        let low = 10f64.powf(low.log10().floor()).max(f64::MIN_POSITIVE);
        let high = 10f64.powf(high.log10().ceil()).min(f64::MAX);
        Scale { low, high, step: None, bottom, top }
    }

    /// The pixel of a value, at the axis' end where it is beyond; nothing for what is missing.
    pub fn at(&self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        let value = value.clamp(self.low, self.high);
        let share = if self.step.is_none() {
            (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
        } else {
            // Halves, since the difference of two huge values may be no number.
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        let share = if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) };
        Some(self.bottom + share * (self.top - self.bottom))
    }

    /// Round values to mark.
    pub fn marks(&self) -> Vec<f64> {
        self.step.map_or_else(|| self.log_marks(), |step| self.linear_marks(step))
    }

    fn linear_marks(&self, step: f64) -> Vec<f64> {
        let first = (self.low / step).ceil();
        let marks = (0..MOST_MARKS).map(|k| (first + k as f64) * step);
        marks.filter(|mark| (self.low..=self.high).contains(mark)).collect()
    }

    fn log_marks(&self) -> Vec<f64> {
        let (low, high) = (self.low.log10().round() as i32, self.high.log10().round() as i32);
        let every = ((high - low) / 6).max(1) as usize;
        let marks = (low..=high).step_by(every).map(|power| 10f64.powi(power));
        marks.filter(|mark| (self.low..=self.high).contains(mark)).collect()
    }
}

/// 1, 2 or 5 times a power of ten, so that a handful of steps span the range.
fn step(low: f64, high: f64) -> f64 {
    let rough = (high / MARKS - low / MARKS).max(f64::MIN_POSITIVE * 1e16);
    let power = 10f64.powf(rough.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= rough * 0.999).unwrap_or(10.0);
    let step = digit * power;
    if step.is_finite() { step } else { power }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop_assert, proptest};

    use super::*;

    fn fitting(values: &[f64]) -> Scale {
        Scale::fitting(values.iter().copied(), 100.0, 10.0)
    }

    #[test]
    fn marks_are_round_and_cover_the_values() {
        assert_eq!(fitting(&[3.0, 41.7]).marks(), [0.0, 20.0, 40.0, 60.0]);
        assert_eq!(fitting(&[-3.0, 5.0]).marks(), [-4.0, -2.0, 0.0, 2.0, 4.0, 6.0]);
        assert_eq!(fitting(&[0.3, 700.0]).marks(), [0.1, 1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn a_constant_or_nothing_still_makes_an_axis() {
        assert_eq!(fitting(&[0.0, 0.0]).at(0.0), Some(100.0));
        assert_eq!(fitting(&[7.0]).low, 0.0);
        assert_eq!(fitting(&[f64::NAN]).marks().first(), Some(&0.0));
        assert_eq!(fitting(&[1.0]).at(f64::NAN), None);
    }

    proptest! {
        #[test]
        fn every_finite_value_lands_inside(values in proptest::collection::vec(any::<u64>().prop_map(f64::from_bits), 0..20)) {
            let scale = fitting(&values);
            for &value in &values {
                let inside = scale.at(value).is_none_or(|y| (10.0..=100.0).contains(&y));
                prop_assert!(inside, "{value} at {:?} of {scale:?}", scale.at(value));
            }
            prop_assert!(scale.marks().len() <= MOST_MARKS);
            prop_assert!(scale.marks().iter().all(|mark| scale.at(*mark).is_some()));
        }

        #[test]
        fn larger_values_are_not_lower(a in -1e9..1e9, b in -1e9..1e9) {
            let scale = fitting(&[a, b]);
            prop_assert!((a <= b) == (scale.at(a) >= scale.at(b)) || (a - b).abs() < 1e-3);
        }
    }
}
