//! The lowest and the highest value, and the number of values.

use crate::machine::kernel;
use crate::rows::Rows;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Infinite if there are no values.
    pub low: f64,
    /// Minus infinite if there are no values.
    pub high: f64,
    pub count: usize,
}

impl Extent {
    pub const NOTHING: Extent = Extent { low: f64::INFINITY, high: f64::NEG_INFINITY, count: 0 };

    pub fn with(self, other: Extent) -> Extent {
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        Extent { low, high, count: self.count + other.count }
    }

    /// Comparisons with NaN are false, so missing values change nothing.
    fn take(&mut self, value: f64) {
        self.low = if value < self.low { value } else { self.low };
        self.high = if value > self.high { value } else { self.high };
        self.count += usize::from(!value.is_nan());
    }
}

kernel! {
    /// The extent of all values except NaN.
    pub fn extent(rows: Rows) -> Extent = plain | wide;
}

fn plain(rows: Rows) -> Extent {
    let mut extent = Extent::NOTHING;
    rows.iter().flatten().for_each(|value| extent.take(*value));
    extent
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide(rows: Rows) -> Extent {
    let mut extent = Extent::NOTHING;
    // Two independent chains, so that neither waits for the other.
    let (mut even, mut odd) = (fours::Fours::nothing(), fours::Fours::nothing());
    for row in rows.iter() {
        let (fours, rest) = row.as_chunks::<4>();
        let (pairs, single) = fours.as_chunks::<2>();
        for [one, other] in pairs {
            even.take(one);
            odd.take(other);
        }
        single.iter().for_each(|four| even.take(four));
        rest.iter().for_each(|value| extent.take(*value));
    }
    extent.with(even.extent()).with(odd.extent())
}

#[cfg(target_arch = "x86_64")]
mod fours {
    use std::arch::x86_64::{
        __m256d, __m256i, _CMP_ORD_Q, _mm256_castpd_si256, _mm256_cmp_pd, _mm256_max_pd, _mm256_min_pd,
        _mm256_set1_pd, _mm256_setzero_si256, _mm256_storeu_si256, _mm256_sub_epi64,
    };

    use super::Extent;
    use crate::machine::wide::{load_four, store_four};

    /// Four extents side by side.
    pub(super) struct Fours {
        low: __m256d,
        high: __m256d,
        count: __m256i,
    }

    impl Fours {
        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn nothing() -> Fours {
            let (low, high) = (_mm256_set1_pd(f64::INFINITY), _mm256_set1_pd(f64::NEG_INFINITY));
            Fours { low, high, count: _mm256_setzero_si256() }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn take(&mut self, four: &[f64; 4]) {
            let values = load_four(four);
            // If either operand is NaN, the result is the second one.
            self.low = _mm256_min_pd(values, self.low);
            self.high = _mm256_max_pd(values, self.high);
            let are_there = _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_ORD_Q>(values, values));
            self.count = _mm256_sub_epi64(self.count, are_there);
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn extent(&self) -> Extent {
            let (mut lows, mut highs, mut counts) = ([0.0; 4], [0.0; 4], [0u64; 4]);
            store_four(&mut lows, self.low);
            store_four(&mut highs, self.high);
            // SAFETY: four numbers of 64 bits are as long as the register; it need not be aligned.
            unsafe { _mm256_storeu_si256(counts.as_mut_ptr().cast(), self.count) };
            Extent {
                low: lows.into_iter().fold(f64::INFINITY, f64::min),
                high: highs.into_iter().fold(f64::NEG_INFINITY, f64::max),
                count: counts.iter().sum::<u64>() as usize,
            }
        }
    }
}
