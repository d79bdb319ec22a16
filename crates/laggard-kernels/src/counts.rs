//! The cumulative histogram of a row.

use crate::machine::kernel;

/// The limit of bins, and of samples in a row: their bits fit into one word.
pub const MOST_COUNTED: usize = 64;

/// A row of bins or counts. Unused bins are [`PAST`].
pub type Row = [u16; MOST_COUNTED];

/// A bin above all others.
pub const PAST: u16 = i8::MAX as u16;

kernel! {
    /// For each bin number, the count of bins in the row that are not higher.
    pub fn count_up(bins: &Row, counts: &mut Row) = plain | wide::count_up | widest;
}

fn plain(bins: &Row, counts: &mut Row) {
    counts.fill(0);
    for &bin in bins {
        let above = counts.iter_mut().skip(usize::from(bin));
        above.for_each(|count| *count += 1);
    }
}

/// Counts up to the highest bin. From there on, all counts are equal.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn count_each(highest: u8, counts: &mut Row, count_up_to: impl Fn(u8) -> u16) {
    counts.fill(count_up_to(highest));
    counts.iter_mut().zip(0..highest).for_each(|(count, bin)| *count = count_up_to(bin));
}

/// A bit for each sample.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt,avx512f,avx512bw,avx512vl")]
fn widest(bins: &Row, counts: &mut Row) {
    use std::arch::x86_64::{
        _mm512_castsi256_si512, _mm512_cmple_epu8_mask, _mm512_inserti64x4, _mm512_set1_epi8,
    };

    let [lower, upper] = wide::bytes(bins);
    let highest = wide::highest([lower, upper]);
    let bytes = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(lower), upper);
    let count_up_to =
        |bin: u8| _mm512_cmple_epu8_mask(bytes, _mm512_set1_epi8(bin as i8)).count_ones() as u16;
    count_each(highest, counts, count_up_to);
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        __m256i, _mm_extract_epi16, _mm_min_epu8, _mm_minpos_epu16, _mm_srli_epi16, _mm256_add_epi8,
        _mm256_and_si256, _mm256_castsi256_si128, _mm256_cmpgt_epi8, _mm256_extracti128_si256,
        _mm256_max_epu8, _mm256_movemask_epi8, _mm256_packus_epi16, _mm256_set1_epi8, _mm256_xor_si256,
    };

    use super::{PAST, Row, count_each};
    use crate::LANES;
    use crate::machine::wide::load;

    /// A bit for each sample.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn count_up(bins: &Row, counts: &mut Row) {
        let bytes = bytes(bins);
        let highest = highest(bytes);
        let count_up_to = |bin: u8| {
            let bin = _mm256_set1_epi8(bin as i8);
            let above = bytes.map(|half| _mm256_movemask_epi8(_mm256_cmpgt_epi8(half, bin)) as u32);
            (u64::from(above[1]) << 32 | u64::from(above[0])).count_zeros() as u16
        };
        count_each(highest, counts, count_up_to);
    }

    /// The bins, in an order of their own.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn bytes(bins: &Row) -> [__m256i; 2] {
        let (sixteens, _) = bins.as_chunks::<LANES>();
        [0, 2].map(|k| _mm256_packus_epi16(load(&sixteens[k]), load(&sixteens[k + 1])))
    }

    /// The highest bin other than [`PAST`].
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn highest(bytes: [__m256i; 2]) -> u8 {
        let (one, past) = (_mm256_set1_epi8(1), _mm256_set1_epi8(PAST as i8));
        // [`PAST`] becomes 0.
        let [lower, upper] = bytes.map(|half| _mm256_and_si256(_mm256_add_epi8(half, one), past));
        let bytes = _mm256_xor_si256(_mm256_max_epu8(lower, upper), _mm256_set1_epi8(-1));
        let sixteen = _mm_min_epu8(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes));
        // The upper byte of each pair is zero now.
        let eight = _mm_min_epu8(sixteen, _mm_srli_epi16::<8>(sixteen));
        let lowest = _mm_extract_epi16::<0>(_mm_minpos_epu16(eight)) as u8;
        (!lowest).saturating_sub(1)
    }
}
