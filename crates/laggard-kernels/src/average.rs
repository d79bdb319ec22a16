//! Moving averages.
//!
//! A sum consists of sums of three neighbours each, which neighbouring sums share. There is no running sum that drifts, so a
//! mean has the same bits wherever a recording is cut.

use crate::machine::kernel;

/// The number of neighbours that are added first.
pub(crate) const FIRST: usize = 3;

/// The mean of each `span` neighbours without missing and infinite values; NaN if fewer than `least` remain. Writes
/// `values.len() - (span - 1)` means. `threes` is a buffer.
pub fn moving_average(values: &[f64], span: usize, least: usize, threes: &mut Vec<f64>, means: &mut [f64]) {
    assert!(span > 0 && means.len() + span == values.len() + 1, "one mean for each {span} neighbours");
    threes.resize(values.len().saturating_sub(FIRST - 1), 0.0);
    if means.is_empty() || scaled_sums(values, span, threes, means) {
        return;
    }
    for (mean, neighbours) in means.iter_mut().zip(values.windows(span)) {
        if !mean.is_finite() {
            *mean = incomplete(neighbours, least);
        }
    }
}

/// The mean of the finite values.
fn incomplete(neighbours: &[f64], least: usize) -> f64 {
    let there = neighbours.iter().filter(|value| value.is_finite()).count();
    let mean = sum(neighbours, |value| if value.is_finite() { value } else { 0.0 }) * (1.0 / there as f64);
    if there >= least.max(1) && mean.is_finite() { mean } else { f64::NAN }
}

#[inline(always)]
fn sum(neighbours: &[f64], each: impl Fn(f64) -> f64) -> f64 {
    let add = |sum: f64, value: &f64| sum + each(*value);
    neighbours.chunks(FIRST).fold(0.0, |sum, few| sum + few.iter().fold(0.0, add))
}

kernel! {
    /// The sum of each `span` neighbours, divided by their number. Returns whether all are finite.
    fn scaled_sums(values: &[f64], span: usize, threes: &mut [f64], means: &mut [f64]) -> bool = plain | wide | widest;
}

fn plain(values: &[f64], span: usize, _threes: &mut [f64], means: &mut [f64]) -> bool {
    let share = 1.0 / span as f64;
    let mut are_finite = true;
    for (mean, neighbours) in means.iter_mut().zip(values.windows(span)) {
        *mean = sum(neighbours, |value| value) * share;
        are_finite &= mean.is_finite();
    }
    are_finite
}

/// Sums that are computed together: a few registers.
#[cfg(target_arch = "x86_64")]
const TILE: usize = 16;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide(values: &[f64], span: usize, threes: &mut [f64], means: &mut [f64]) -> bool {
    by_tiles(values, span, threes, means)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512dq,avx512vl")]
fn widest(values: &[f64], span: usize, threes: &mut [f64], means: &mut [f64]) -> bool {
    by_tiles(values, span, threes, means)
}

/// Compiled for the registers of its caller.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn by_tiles(values: &[f64], span: usize, threes: &mut [f64], means: &mut [f64]) -> bool {
    if means.len() < TILE {
        return plain(values, span, threes, means);
    }
    for (three, neighbours) in threes.iter_mut().zip(values.array_windows::<FIRST>()) {
        *three = neighbours[0] + neighbours[1] + neighbours[2];
    }
    let (share, whole) = (1.0 / span as f64, span / FIRST * FIRST);
    let mut are_finite = true;
    for start in (0..means.len()).step_by(TILE) {
        // The last tile overlaps the one before.
        let start = start.min(means.len() - TILE);
        let (mut sums, mut rest) = ([0.0; TILE], [0.0; TILE]);
        for first in (0..whole).step_by(FIRST) {
            sums.iter_mut().zip(&threes[start + first..][..TILE]).for_each(|(sum, three)| *sum += three);
        }
        for first in whole..span {
            rest.iter_mut().zip(&values[start + first..][..TILE]).for_each(|(sum, value)| *sum += value);
        }
        for ((mean, sum), rest) in means[start..][..TILE].iter_mut().zip(sums).zip(rest) {
            *mean = (sum + rest) * share;
            are_finite &= mean.is_finite();
        }
    }
    are_finite
}
