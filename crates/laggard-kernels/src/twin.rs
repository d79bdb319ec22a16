//! Plain versions of the kernels: slow and obvious, the reference for the fast ones.

use crate::average::FIRST;
use crate::bins::Scale;
use crate::extent::Extent;

/// See [`crate::average::moving_average`].
pub fn moving_average(values: &[f64], span: usize, least: usize) -> Vec<f64> {
    let mean = |neighbours: &[f64]| {
        let there = neighbours.iter().filter(|value| value.is_finite()).count();
        let or_nothing = |value: &f64| if value.is_finite() { *value } else { 0.0 };
        let of_few = |few: &[f64]| few.iter().map(or_nothing).fold(0.0, |sum, value| sum + value);
        let sum = neighbours.chunks(FIRST).map(of_few).fold(0.0, |sum, few| sum + few);
        let mean = sum * (1.0 / there as f64);
        if there >= least.max(1) && mean.is_finite() { mean } else { f64::NAN }
    };
    values.windows(span).map(mean).collect()
}

/// See [`crate::bins::number`].
pub fn bin(value: f64, scale: Scale) -> u16 {
    match value.is_nan() {
        true => scale.count,
        false => (((value - scale.low) / scale.width).floor() as u16).min(scale.count - 1),
    }
}

/// See [`crate::extent::extent`].
pub fn extent(values: &[f64]) -> Extent {
    let there: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    let (low, high) = (there.iter().copied().reduce(f64::min), there.iter().copied().reduce(f64::max));
    match (low, high) {
        (Some(low), Some(high)) => Extent { low, high, count: there.len() },
        _ => Extent::NOTHING,
    }
}

/// See [`crate::counts::count_up`].
pub fn counts(bins: &[u16], count: usize) -> Vec<u16> {
    (0..count).map(|highest| bins.iter().filter(|bin| usize::from(**bin) <= highest).count() as u16).collect()
}

/// The sum of the differences of two rows of bins; [`crate::lanes`] computes many together.
pub fn distance(one: &[u16], other: &[u16]) -> u32 {
    one.iter().zip(other).map(|(&a, &b)| u32::from(a.abs_diff(b))).sum()
}

/// Without NaN. None if there are no values.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut there: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    there.sort_by(f64::total_cmp);
    let exact = there.len().checked_sub(1)? as f64 * share;
    let (low, high) = (there[exact as usize], there[exact.ceil() as usize]);
    Some(if exact.fract() == 0.0 { low } else { low + (high - low) * exact.fract() })
}

/// The value of a rank. None if there are too few values.
pub fn ranked(values: &[u16], rank: usize) -> Option<u16> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(rank).copied()
}
