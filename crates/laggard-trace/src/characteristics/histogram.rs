//! A histogram of whole numbers: exact below 32, then 32 classes per power of two, so that a quantile is off by at most
//! a thirty-second. Grows with the largest value.

use serde::Serialize;

const CLASSES: u64 = 32;
const CLASS_BITS: u32 = CLASSES.trailing_zeros();

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Histogram {
    counts: Vec<u32>,
    number: u64,
    sum: u128,
    largest: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    pub count: u64,
    pub avg: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
    pub sum: f64,
}

impl Histogram {
    pub(crate) fn add(&mut self, value: u64) {
        let class = class(value);
        if class >= self.counts.len() {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] = self.counts[class].saturating_add(1);
        self.number += 1;
        self.sum += u128::from(value);
        self.largest = self.largest.max(value);
    }

    /// Adds the values of another histogram.
    pub(crate) fn join(&mut self, other: &Histogram) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, more)| *own = own.saturating_add(*more));
        self.number += other.number;
        self.sum += other.sum;
        self.largest = self.largest.max(other.largest);
    }

    pub(crate) fn count(&self) -> u64 {
        self.number
    }

    pub(crate) fn sum(&self) -> f64 {
        self.sum as f64
    }

    /// 0 without values.
    pub(crate) fn mean(&self) -> f64 {
        if self.number == 0 { 0.0 } else { self.sum as f64 / self.number as f64 }
    }

    /// The middle of the quantile's class, at most the largest value.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let rank = (share * self.number as f64).ceil().max(1.0) as u64;
        let mut passed = 0;
        for (class, count) in self.counts.iter().enumerate() {
            passed += u64::from(*count);
            if passed >= rank {
                return middle(class).min(self.largest as f64);
            }
        }
        self.largest as f64
    }

    pub(crate) fn summary(&self) -> Summary {
        if self.number == 0 {
            return Summary::default();
        }
        Summary {
            count: self.number,
            avg: self.mean(),
            p50: self.quantile(0.5),
            p95: self.quantile(0.95),
            p99: self.quantile(0.99),
            max: self.largest as f64,
            sum: self.sum(),
        }
    }

    /// The number of values from each power of two to below the next, zeros first.
    pub(crate) fn by_power_of_two(&self) -> Vec<(u64, u64)> {
        let mut powers: Vec<(u64, u64)> = Vec::new();
        for (class, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let low = lowest(class);
            let power = if low == 0 { 0 } else { 1 << low.ilog2() };
            match powers.last_mut() {
                Some((last, sum)) if *last == power => *sum += u64::from(*count),
                _ => powers.push((power, u64::from(*count))),
            }
        }
        powers
    }

    /// The number of values below a power of two.
    pub(crate) fn below(&self, power: u64) -> u64 {
        self.counts.iter().take(class(power)).map(|count| u64::from(*count)).sum()
    }
}

fn class(value: u64) -> usize {
    if value < CLASSES {
        return value as usize;
    }
    let shift = value.ilog2() - CLASS_BITS;
    (u64::from(shift + 1) * CLASSES + (value >> shift) - CLASSES) as usize
}

/// The smallest value of a class.
fn lowest(class: usize) -> u64 {
    let (block, place) = (class as u64 / CLASSES, class as u64 % CLASSES);
    if block == 0 { place } else { (CLASSES + place) << (block - 1) }
}

fn middle(class: usize) -> f64 {
    let block = class as u64 / CLASSES;
    let width = if block == 0 { 1 } else { 1u64 << (block - 1) };
    lowest(class) as f64 + (width - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn filled(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.add(*value));
        histogram
    }

    #[test]
    fn small_values_are_exact() {
        let histogram = filled(&[1, 2, 3, 4]);
        assert_eq!(histogram.quantile(0.5), 2.0);
        assert_eq!(histogram.summary().max, 4.0);
        assert_eq!(histogram.by_power_of_two(), [(1, 1), (2, 2), (4, 1)]);
        assert_eq!(filled(&[]).summary(), Summary::default());
    }

    #[test]
    fn values_below_a_power_of_two_are_counted_exactly() {
        let histogram = filled(&[4095, 4096, 65_535, 65_536, 131_071]);
        assert_eq!(histogram.below(4096), 1);
        assert_eq!(histogram.below(65_536), 3);
        assert_eq!(histogram.by_power_of_two(), [(2048, 1), (4096, 1), (32_768, 1), (65_536, 2)]);
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_values(mut values in proptest::collection::vec(0..10_000_000_000u64, 1..200), share in 0.0..1.0f64) {
            let histogram = filled(&values);
            values.sort_unstable();
            let rank = ((share * values.len() as f64).ceil().max(1.0) as usize - 1).min(values.len() - 1);
            let (exact, estimate) = (values[rank] as f64, histogram.quantile(share));
            prop_assert!((exact - estimate).abs() <= exact / 32.0, "{exact} {estimate}");
        }

        #[test]
        fn any_value_has_a_class_that_holds_it(value in any::<u64>()) {
            let class = class(value);
            prop_assert!(lowest(class) <= value);
            prop_assert_eq!(super::class(lowest(class)), class);
        }
    }
}
