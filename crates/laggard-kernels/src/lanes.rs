//! Distances of one component to many, sixteen at a time.
//!
//! A block holds one row of sixteen bins for each position; the bins of one component form a column.

use std::ops::{Deref, DerefMut};

use crate::HIGHEST_BIN;
use crate::machine::{LANES, kernel};

/// One bin of each component of a block. Aligned, because a row in two cache lines costs twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(32))]
pub struct Lanes(pub [u16; LANES]);

impl Lanes {
    /// The same bin in all lanes.
    pub fn all(bin: u16) -> Lanes {
        Lanes([bin; LANES])
    }
}

impl Deref for Lanes {
    type Target = [u16; LANES];

    #[inline(always)]
    fn deref(&self) -> &[u16; LANES] {
        &self.0
    }
}

impl DerefMut for Lanes {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u16; LANES] {
        &mut self.0
    }
}

/// Components that are compared with all others together.
pub const ASKED: usize = 4;

/// A count of the members that are further away from a component than a limit.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    pub limit: u32,
    /// The number of distances above the limit so far.
    over: usize,
    /// The number of members that are not compared yet.
    left: usize,
    /// The number of distances that must exceed the limit.
    needed: usize,
}

impl Question {
    pub fn new(limit: u32, members: usize, needed: usize) -> Question {
        Question { limit, over: 0, left: members, needed }
    }

    /// The answer, if it is settled.
    pub fn is_over(&self) -> bool {
        self.over >= self.needed
    }

    /// The remaining members cannot change the answer.
    pub fn is_settled(&self) -> bool {
        self.is_over() || self.over + self.left < self.needed
    }

    /// Adds a block, given its number of lanes above the limit. The last block may be partly empty.
    #[inline]
    fn count(&mut self, over: impl FnOnce(usize) -> usize) {
        let valid = self.left.min(LANES);
        self.over += over(valid);
        self.left -= valid;
    }
}

/// Sums of `size` differences fit into 16 bits.
fn fits(size: usize, highest: u16) -> bool {
    assert!(highest <= HIGHEST_BIN, "bins are compared as signed numbers");
    size * usize::from(highest) <= usize::from(u16::MAX)
}

kernel! {
    /// Transposes rows of bins, one for each component, into the rows of a block. There are sixteen rows, each `stride`
    /// long; the block takes as many bins as it has rows.
    pub fn turn(rows: &[u16], stride: usize, block: &mut [Lanes]) = plain::turn | wide::turn;
}

kernel! {
    /// The distance of one component (each of its bins in all lanes of a row) to all members of the blocks.
    pub fn distances(one: &[Lanes], blocks: &[Lanes], highest: u16, to: &mut [u32])
        = plain::distances | wide::distances;
}

kernel! {
    /// Counts the distances above the limits, from some components (their bins one after the other, each in all lanes of a
    /// row) to the next members. Stops when all questions are settled.
    pub fn exceed(asked: &[Lanes], blocks: &[Lanes], highest: u16, questions: &mut [Question; ASKED])
        = plain::exceed | wide::exceed;
}

mod plain {
    use super::{ASKED, LANES, Lanes, Question};

    pub(super) fn turn(rows: &[u16], stride: usize, block: &mut [Lanes]) {
        assert!(rows.len() == LANES * stride && block.len() <= stride, "sixteen rows that are long enough");
        for (position, place) in block.iter_mut().enumerate() {
            *place = Lanes(std::array::from_fn(|lane| rows[lane * stride + position]));
        }
    }

    pub(super) fn distances(one: &[Lanes], blocks: &[Lanes], _highest: u16, to: &mut [u32]) {
        assert!(blocks.len() == to.len().div_ceil(LANES) * one.len(), "a place for each distance");
        for (block, to) in blocks.chunks_exact(one.len()).zip(to.chunks_mut(LANES)) {
            to.copy_from_slice(&block_distances(one, block)[..to.len()]);
        }
    }

    fn block_distances(one: &[Lanes], block: &[Lanes]) -> [u32; LANES] {
        let mut sums = [0; LANES];
        for (one, other) in one.iter().zip(block) {
            for lane in 0..LANES {
                sums[lane] += u32::from(one[lane].abs_diff(other[lane]));
            }
        }
        sums
    }

    pub(super) fn exceed(
        asked: &[Lanes],
        blocks: &[Lanes],
        _highest: u16,
        questions: &mut [Question; ASKED],
    ) {
        let size = asked.len() / ASKED;
        for (one, question) in asked.chunks_exact(size).zip(questions) {
            for block in blocks.chunks_exact(size) {
                let (distances, limit) = (block_distances(one, block), question.limit);
                question.count(|valid| distances[..valid].iter().filter(|d| **d > limit).count());
                if question.is_settled() {
                    break;
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_loadu_si128, _mm_storeu_si128, _mm_unpackhi_epi16, _mm_unpackhi_epi32,
        _mm_unpackhi_epi64, _mm_unpacklo_epi16, _mm_unpacklo_epi32, _mm_unpacklo_epi64, _mm256_abs_epi16,
        _mm256_add_epi16, _mm256_cmpeq_epi16, _mm256_movemask_epi8, _mm256_set1_epi16, _mm256_setzero_si256,
        _mm256_sub_epi16, _mm256_subs_epu16,
    };

    use super::{ASKED, LANES, Lanes, Question, fits, plain};
    use crate::machine::wide::{load, store};

    /// Eight positions of eight components at a time.
    #[target_feature(enable = "avx2")]
    pub(super) fn turn(rows: &[u16], stride: usize, block: &mut [Lanes]) {
        assert!(rows.len() == LANES * stride && block.len() <= stride, "sixteen rows that are long enough");
        let whole = block.len() / 8 * 8;
        for position in (0..whole).step_by(8) {
            for lane in [0, 8] {
                let eight = std::array::from_fn(|row| load_eight(&rows[(lane + row) * stride + position..]));
                for (place, turned) in block[position..].iter_mut().zip(turn_eight(eight)) {
                    store_eight(&mut place[lane..], turned);
                }
            }
        }
        for (position, place) in block.iter_mut().enumerate().skip(whole) {
            *place = Lanes(std::array::from_fn(|lane| rows[lane * stride + position]));
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_eight(values: &[u16]) -> __m128i {
        assert!(values.len() >= 8, "eight numbers");
        // SAFETY: eight numbers of 16 bits are as long as the register; it need not be aligned.
        unsafe { _mm_loadu_si128(values.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store_eight(values: &mut [u16], register: __m128i) {
        assert!(values.len() >= 8, "eight numbers");
        // SAFETY: as in `load_eight`.
        unsafe { _mm_storeu_si128(values.as_mut_ptr().cast(), register) }
    }

    /// Transposes by interleaving numbers, then pairs, then fours.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn turn_eight(r: [__m128i; 8]) -> [__m128i; 8] {
        let low = |a: usize| _mm_unpacklo_epi16(r[a], r[a + 1]);
        let high = |a: usize| _mm_unpackhi_epi16(r[a], r[a + 1]);
        let (l, h) = ([low(0), low(2), low(4), low(6)], [high(0), high(2), high(4), high(6)]);
        let first = [
            _mm_unpacklo_epi32(l[0], l[1]),
            _mm_unpackhi_epi32(l[0], l[1]),
            _mm_unpacklo_epi32(h[0], h[1]),
            _mm_unpackhi_epi32(h[0], h[1]),
        ];
        let second = [
            _mm_unpacklo_epi32(l[2], l[3]),
            _mm_unpackhi_epi32(l[2], l[3]),
            _mm_unpacklo_epi32(h[2], h[3]),
            _mm_unpackhi_epi32(h[2], h[3]),
        ];
        std::array::from_fn(|row| match row % 2 {
            0 => _mm_unpacklo_epi64(first[row / 2], second[row / 2]),
            _ => _mm_unpackhi_epi64(first[row / 2], second[row / 2]),
        })
    }

    /// Sums in 16 bits; the caller checks that they fit.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn block_distances(one: &[Lanes], block: &[Lanes]) -> __m256i {
        let mut sums = _mm256_setzero_si256();
        for (one, other) in one.iter().zip(block) {
            let difference = _mm256_abs_epi16(_mm256_sub_epi16(load(one), load(other)));
            sums = _mm256_add_epi16(sums, difference);
        }
        sums
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn distances(one: &[Lanes], blocks: &[Lanes], highest: u16, to: &mut [u32]) {
        if !fits(one.len(), highest) {
            return plain::distances(one, blocks, highest, to);
        }
        assert!(blocks.len() == to.len().div_ceil(LANES) * one.len(), "a place for each distance");
        let mut sums = [0; LANES];
        for (block, to) in blocks.chunks_exact(one.len()).zip(to.chunks_mut(LANES)) {
            store(&mut sums, block_distances(one, block));
            to.iter_mut().zip(sums).for_each(|(to, sum)| *to = u32::from(sum));
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn exceed(asked: &[Lanes], blocks: &[Lanes], highest: u16, questions: &mut [Question; ASKED]) {
        let size = asked.len() / ASKED;
        if !fits(size, highest) {
            return plain::exceed(asked, blocks, highest, questions);
        }
        for block in blocks.chunks_exact(size) {
            for (sums, question) in four_distances(asked, block).into_iter().zip(&mut *questions) {
                // All distances fit into 16 bits.
                let limit = question.limit.min(u32::from(u16::MAX)) as u16;
                question.count(|valid| lanes_over(sums, limit, valid));
            }
            if questions.iter().all(Question::is_settled) {
                break;
            }
        }
    }

    /// Each row of a block is loaded once for all asked components.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn four_distances(asked: &[Lanes], block: &[Lanes]) -> [__m256i; ASKED] {
        let (first, rest) = asked.split_at(block.len());
        let (second, rest) = rest.split_at(block.len());
        let (third, fourth) = rest.split_at(block.len());
        let mut sums = [_mm256_setzero_si256(); ASKED];
        let rows = block.iter().zip(first).zip(second).zip(third).zip(fourth);
        for ((((row, first), second), third), fourth) in rows {
            let row = load(row);
            for (sum, one) in sums.iter_mut().zip([first, second, third, fourth]) {
                *sum = _mm256_add_epi16(*sum, _mm256_abs_epi16(_mm256_sub_epi16(load(one), row)));
            }
        }
        sums
    }

    /// The number of the first lanes above the limit: a saturating subtraction leaves a rest.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn lanes_over(sums: __m256i, limit: u16, valid: usize) -> usize {
        let rest = _mm256_subs_epu16(sums, _mm256_set1_epi16(limit as i16));
        let are_not = _mm256_movemask_epi8(_mm256_cmpeq_epi16(rest, _mm256_setzero_si256())) as u32;
        // Two bits for each lane.
        let counted = u32::MAX >> (2 * (LANES - valid));
        (!are_not & counted).count_ones() as usize / 2
    }
}
