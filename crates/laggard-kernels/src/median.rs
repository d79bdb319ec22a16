//! Quantiles of many sorted columns, position by position.

use crate::lanes::Lanes;
use crate::machine::kernel;

#[derive(Clone, Copy, Debug)]
pub struct Quantile {
    /// Every `every`-th block is used.
    pub every: usize,
    /// The number of lower values among these.
    pub rank: usize,
    /// The highest bin. Lanes past the last member hold higher bins.
    pub highest: u16,
}

/// The value of the rank at each position, for sorted columns.
pub fn quantiles(blocks: &[Lanes], quantile: Quantile, values: &mut [u16]) {
    let size = values.len();
    assert!(size > 0 && blocks.len().is_multiple_of(size), "blocks as long as the positions");
    let apart = size * quantile.every.max(1);
    let mut value = 0;
    for (position, place) in values.iter_mut().enumerate() {
        // Columns are sorted, so their quantiles increase: start with the last one.
        let is_enough = |bin| count_up_to(&blocks[position.min(blocks.len())..], apart, bin) > quantile.rank;
        value = lowest(value, quantile.highest, is_enough);
        *place = value;
    }
}

/// The lowest number from `low` on that is enough, given that `high` is enough and enough is monotonic. It is usually close,
/// so steps are doubled until they pass it.
fn lowest(low: u16, high: u16, is_enough: impl Fn(u16) -> bool) -> u16 {
    let (mut low, mut high, mut step) = (low, high, 1);
    let mut probe = low;
    while probe < high && !is_enough(probe) {
        low = probe + 1;
        probe = probe.saturating_add(step);
        step = step.saturating_mul(2);
    }
    high = high.min(probe);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_enough(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

kernel! {
    /// The number of bins in the first row of each block that are not higher.
    fn count_up_to(blocks: &[Lanes], size: usize, highest: u16) -> usize = plain | wide;
}

fn plain(blocks: &[Lanes], size: usize, highest: u16) -> usize {
    blocks.iter().step_by(size).flat_map(|row| row.iter()).filter(|bin| **bin <= highest).count()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide(blocks: &[Lanes], size: usize, highest: u16) -> usize {
    use std::arch::x86_64::{
        _mm256_cmpeq_epi16, _mm256_min_epu16, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_sub_epi16,
    };

    use crate::machine::wide::{load, store};

    let highest = _mm256_set1_epi16(highest as i16);
    let (mut total, mut from) = (0, 0);
    while from < blocks.len() {
        let mut counts = _mm256_setzero_si256();
        // A 16-bit count is emptied before it can overflow.
        for row in blocks[from..].iter().step_by(size).take(usize::from(u16::MAX)) {
            let bins = load(row);
            let are_up_to = _mm256_cmpeq_epi16(_mm256_min_epu16(bins, highest), bins);
            counts = _mm256_sub_epi16(counts, are_up_to);
        }
        let mut lanes = [0; crate::LANES];
        store(&mut lanes, counts);
        total += lanes.iter().map(|&count| usize::from(count)).sum::<usize>();
        from += size * usize::from(u16::MAX);
    }
    total
}
