//! The bin numbers of values.

use crate::HIGHEST_BIN;
use crate::machine::kernel;

/// Bins of equal width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The begin of the first bin.
    pub low: f64,
    /// The width of a bin; 0 if all values are equal.
    pub width: f64,
    /// The number of bins. Missing values have this number: one past the last.
    pub count: u16,
}

/// The relative rounding error of sums.
const ROUNDING: f64 = 1e-12;

impl Scale {
    /// `count` bins from the lowest value to the highest. Values that differ by no more than rounding share one.
    pub fn new(low: f64, high: f64, count: u16) -> Scale {
        let is_spread = high - low > ROUNDING * low.abs().max(high.abs());
        let count = if is_spread { count.clamp(1, HIGHEST_BIN) } else { 1 };
        Scale { low, width: (high - low) / f64::from(count), count }
    }

    /// The bin of one value. Values past the ends belong to the outermost bins.
    #[inline]
    pub fn number(&self, value: f64) -> u16 {
        let exact = (value - self.low) / self.width;
        if value.is_nan() { self.count } else { (exact as u16).min(self.count - 1) }
    }
}

kernel! {
    /// The number of each value's bin.
    pub fn number(values: &[f64], scale: Scale, numbers: &mut [u16]) = plain | wide | widest;
}

fn plain(values: &[f64], scale: Scale, numbers: &mut [u16]) {
    assert_eq!(values.len(), numbers.len(), "a number for each value");
    numbers.iter_mut().zip(values).for_each(|(number, value)| *number = scale.number(*value));
}

/// Widths for which neither quotients nor remainders lose precision.
#[cfg(target_arch = "x86_64")]
const WIDTHS: std::ops::Range<f64> = 1e-200..1e200;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn wide(values: &[f64], scale: Scale, numbers: &mut [u16]) {
    use std::arch::x86_64::{
        _mm_min_epu32, _mm_packus_epi32, _mm_set1_epi32, _mm_storeu_si128, _mm256_cvttpd_epi32,
        _mm256_fmadd_pd, _mm256_fnmadd_pd, _mm256_max_pd, _mm256_min_pd, _mm256_mul_pd, _mm256_set1_pd,
        _mm256_setzero_pd, _mm256_sub_pd,
    };

    use crate::machine::wide::load_four;

    // If all values are equal, none is above the lowest, and any width works.
    let width = if scale.width == 0.0 { 1.0 } else { scale.width };
    if values.len() < 8 || !WIDTHS.contains(&width) {
        return plain(values, scale, numbers);
    }
    assert_eq!(values.len(), numbers.len(), "a number for each value");
    // Clamped to twice the last bin, so that no quotient is infinite.
    let most = _mm256_set1_pd(2.0 * f64::from(scale.count) * width);
    let (share, width) = (_mm256_set1_pd(1.0 / width), _mm256_set1_pd(width));
    let (low, last) = (_mm256_set1_pd(scale.low), _mm256_set1_pd(f64::from(scale.count - 1)));
    let missing = _mm_set1_epi32(i32::from(scale.count));
    for start in (0..values.len()).step_by(8) {
        // The last eight overlap those before.
        let start = start.min(values.len() - 8);
        let (fours, _) = values[start..][..8].as_chunks::<4>();
        let [one, other] = [0, 1].map(|half| {
            // NaN stays: if either operand is NaN, the result is the second one.
            let above = _mm256_max_pd(_mm256_setzero_pd(), _mm256_sub_pd(load_four(&fours[half]), low));
            let above = _mm256_min_pd(most, above);
            // A correctly rounded division in a third of the time (Markstein 1990): the remainder of a quotient is exact,
            // and the second iteration corrects the last bit.
            let mut exact = _mm256_mul_pd(above, share);
            for _ in 0..2 {
                exact = _mm256_fmadd_pd(_mm256_fnmadd_pd(exact, width, above), share, exact);
            }
            // The conversion turns NaN into a number above all others.
            _mm_min_epu32(_mm256_cvttpd_epi32(_mm256_min_pd(last, exact)), missing)
        });
        let eight = &mut numbers[start..][..8];
        // SAFETY: eight numbers of 16 bits are as long as the register; it need not be aligned.
        unsafe { _mm_storeu_si128(eight.as_mut_ptr().cast(), _mm_packus_epi32(one, other)) };
    }
}

/// As `wide`, eight at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl")]
fn widest(values: &[f64], scale: Scale, numbers: &mut [u16]) {
    use std::arch::x86_64::{
        _mm_storeu_si128, _mm256_cvtepi32_epi16, _mm256_min_epu32, _mm256_set1_epi32, _mm512_cvttpd_epi32,
        _mm512_fmadd_pd, _mm512_fnmadd_pd, _mm512_max_pd, _mm512_min_pd, _mm512_mul_pd, _mm512_set1_pd,
        _mm512_setzero_pd, _mm512_sub_pd,
    };

    use crate::machine::widest::load_eight;

    let width = if scale.width == 0.0 { 1.0 } else { scale.width };
    if values.len() < 8 || !WIDTHS.contains(&width) {
        return plain(values, scale, numbers);
    }
    assert_eq!(values.len(), numbers.len(), "a number for each value");
    let most = _mm512_set1_pd(2.0 * f64::from(scale.count) * width);
    let (share, width) = (_mm512_set1_pd(1.0 / width), _mm512_set1_pd(width));
    let (low, last) = (_mm512_set1_pd(scale.low), _mm512_set1_pd(f64::from(scale.count - 1)));
    let missing = _mm256_set1_epi32(i32::from(scale.count));
    for start in (0..values.len()).step_by(8) {
        let start = start.min(values.len() - 8);
        let Some(eight) = values[start..].first_chunk::<8>() else { return };
        let above = _mm512_max_pd(_mm512_setzero_pd(), _mm512_sub_pd(load_eight(eight), low));
        let above = _mm512_min_pd(most, above);
        let mut exact = _mm512_mul_pd(above, share);
        for _ in 0..2 {
            exact = _mm512_fmadd_pd(_mm512_fnmadd_pd(exact, width, above), share, exact);
        }
        let whole = _mm256_min_epu32(_mm512_cvttpd_epi32(_mm512_min_pd(last, exact)), missing);
        let eight = &mut numbers[start..][..8];
        // SAFETY: eight numbers of 16 bits are as long as the register; it need not be aligned.
        unsafe { _mm_storeu_si128(eight.as_mut_ptr().cast(), _mm256_cvtepi32_epi16(whole)) };
    }
}
