//! Moving averages.
//!
//! A sum is that of the sums of three neighbours each, which it shares with the sums before and after it. No running
//! sum that drifts, so a mean has the same bits wherever a recording is cut.

use crate::machine::kernel;

/// So many neighbours are added first.
pub(crate) const FIRST: usize = 3;

/// The mean of each `span` neighbours, missing and infinite ones left out; missing itself where fewer than `least` are
/// there. Writes as many means as there are values, less `span - 1`. `threes` is memory that is used again and again.
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

/// The mean of those that are there.
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
    /// The sum of each `span` neighbours, divided by their number. Whether all are finite.
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

/// Sixteen sums side by side.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide(values: &[f64], span: usize, threes: &mut [f64], means: &mut [f64]) -> bool {
    use std::arch::x86_64::{
        _CMP_UNORD_Q, _mm256_add_pd, _mm256_cmp_pd, _mm256_movemask_pd, _mm256_mul_pd, _mm256_or_pd,
        _mm256_set1_pd, _mm256_setzero_pd, _mm256_sub_pd,
    };

    use crate::machine::wide::{load_four, store_four};

    const TILE: usize = 16;
    if means.len() < TILE {
        return plain(values, span, threes, means);
    }
    add_threes(values, threes);
    let share = _mm256_set1_pd(1.0 / span as f64);
    let mut not_finite = _mm256_setzero_pd();
    for start in (0..means.len()).step_by(TILE) {
        // The last tile overlaps the one before.
        let start = start.min(means.len() - TILE);
        let mut sums = [_mm256_setzero_pd(); TILE / 4];
        for first in (0..span / FIRST * FIRST).step_by(FIRST) {
            let (fours, _) = threes[start + first..][..TILE].as_chunks::<4>();
            for (sum, four) in sums.iter_mut().zip(fours) {
                *sum = _mm256_add_pd(*sum, load_four(four));
            }
        }
        let mut rest = [_mm256_setzero_pd(); TILE / 4];
        for first in span / FIRST * FIRST..span {
            let (fours, _) = values[start + first..][..TILE].as_chunks::<4>();
            for (sum, four) in rest.iter_mut().zip(fours) {
                *sum = _mm256_add_pd(*sum, load_four(four));
            }
        }
        let (fours, _) = means[start..][..TILE].as_chunks_mut::<4>();
        for ((sum, rest), four) in sums.iter().zip(rest).zip(fours) {
            let mean = _mm256_mul_pd(_mm256_add_pd(*sum, rest), share);
            // What is infinite or NaN has no difference to itself.
            let nothing = _mm256_sub_pd(mean, mean);
            not_finite = _mm256_or_pd(not_finite, _mm256_cmp_pd::<_CMP_UNORD_Q>(nothing, nothing));
            store_four(four, mean);
        }
    }
    _mm256_movemask_pd(not_finite) == 0
}

/// As `wide`, with twice as much in a register.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512dq")]
fn widest(values: &[f64], span: usize, threes: &mut [f64], means: &mut [f64]) -> bool {
    use std::arch::x86_64::{
        _mm512_add_pd, _mm512_fpclass_pd_mask, _mm512_mul_pd, _mm512_set1_pd, _mm512_setzero_pd,
    };

    use crate::machine::widest::{load_eight, store_eight};

    const TILE: usize = 32;
    /// NaN of both kinds, and what is infinite.
    const NOT_FINITE: i32 = 0x01 | 0x08 | 0x10 | 0x80;
    if means.len() < TILE {
        return wide(values, span, threes, means);
    }
    add_threes(values, threes);
    let share = _mm512_set1_pd(1.0 / span as f64);
    let mut not_finite = 0;
    for start in (0..means.len()).step_by(TILE) {
        // The last tile overlaps the one before.
        let start = start.min(means.len() - TILE);
        let mut sums = [_mm512_setzero_pd(); TILE / 8];
        for first in (0..span / FIRST * FIRST).step_by(FIRST) {
            let (eights, _) = threes[start + first..][..TILE].as_chunks::<8>();
            for (sum, eight) in sums.iter_mut().zip(eights) {
                *sum = _mm512_add_pd(*sum, load_eight(eight));
            }
        }
        let mut rest = [_mm512_setzero_pd(); TILE / 8];
        for first in span / FIRST * FIRST..span {
            let (eights, _) = values[start + first..][..TILE].as_chunks::<8>();
            for (sum, eight) in rest.iter_mut().zip(eights) {
                *sum = _mm512_add_pd(*sum, load_eight(eight));
            }
        }
        let (eights, _) = means[start..][..TILE].as_chunks_mut::<8>();
        for ((sum, rest), eight) in sums.iter().zip(rest).zip(eights) {
            let mean = _mm512_mul_pd(_mm512_add_pd(*sum, rest), share);
            not_finite |= _mm512_fpclass_pd_mask::<NOT_FINITE>(mean);
            store_eight(eight, mean);
        }
    }
    not_finite == 0
}

/// The sum of each three neighbours.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn add_threes(values: &[f64], threes: &mut [f64]) {
    for (three, neighbours) in threes.iter_mut().zip(values.array_windows::<FIRST>()) {
        *three = neighbours[0] + neighbours[1] + neighbours[2];
    }
}
