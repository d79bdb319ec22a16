//! A histogram of values by their leading bits.

use crate::extent::{Extent, extent};
use crate::machine::kernel;
use crate::rows::Rows;

/// Bits below a cell. A cell is the sign, the exponent, and nine bits of the fraction.
const SHIFT: u32 = 43;

/// Cells of a power of two.
pub(crate) const OCTAVE: i32 = 1 << (52 - SHIFT);

/// Places of a tally: sixteen powers of two. Lower values count in the first place, missing ones past the last.
pub(crate) const CELLS: i32 = 16 * OCTAVE;

/// Places that are skipped together when searching for a rank.
pub(crate) const STRIDE: usize = 64;

/// Rows that are processed together, while they are in the processor's nearest cache.
const ROWS_TOGETHER: usize = 64;

/// The cell of a number, in the same order as the numbers; NaN is above all of them.
pub(crate) fn cell(value: f64) -> i32 {
    (value.to_bits() as i64 >> SHIFT) as i32
}

/// Consecutive places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    pub(crate) first: u16,
    pub(crate) last: u16,
}

impl Places {
    fn has(self, place: u16) -> bool {
        (self.first..=self.last).contains(&place)
    }
}

/// The histogram of some columns.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) extent: Extent,
    columns: usize,
    /// The place of each value, row by row.
    places: Vec<u16>,
    /// The number of values in each place.
    held: Vec<u32>,
    found: Vec<u32>,
}

impl Default for Tally {
    fn default() -> Tally {
        let held = vec![0; CELLS as usize + 1];
        Tally { extent: Extent::NOTHING, columns: 1, places: Vec::new(), held, found: Vec::new() }
    }
}

impl Tally {
    /// Counts these rows instead of the previous ones. The first place is that of the cell `lowest`.
    pub(crate) fn count(&mut self, rows: Rows, lowest: i32) {
        (self.extent, self.columns) = (Extent::NOTHING, rows.columns());
        self.places.resize(rows.count() * rows.columns(), 0);
        self.held.fill(0);
        for (number, places) in self.places.chunks_mut(ROWS_TOGETHER * rows.columns()).enumerate() {
            let some = rows.some(number * ROWS_TOGETHER, places.len() / rows.columns());
            self.extent = self.extent.with(extent(some));
            for (row, places) in some.iter().zip(places.chunks_exact_mut(rows.columns())) {
                place(row, lowest, places);
            }
            places.iter().for_each(|&place| self.held[usize::from(place)] += 1);
        }
    }

    pub(crate) fn held(&self, place: usize) -> u32 {
        self.held[place]
    }

    pub(crate) fn stride(&self, place: usize) -> u32 {
        self.held[place..][..STRIDE].iter().sum()
    }

    /// Copies the values in each of two ranges of places. The rows are those that were counted.
    pub(crate) fn gather(&mut self, rows: Rows, wanted: [Places; 2], near: &mut [Vec<f64>; 2]) {
        self.found.clear();
        find(&self.places, wanted, &mut self.found);
        for &number in &self.found {
            let (row, column) = (number as usize / self.columns, number as usize % self.columns);
            let (value, place) = (rows.row(row)[column], self.places[number as usize]);
            for (near, _) in near.iter_mut().zip(wanted).filter(|(_, wanted)| wanted.has(place)) {
                near.push(value);
            }
        }
    }
}

kernel! {
    /// The place of each value; the first place is that of the cell `lowest`.
    fn place(values: &[f64], lowest: i32, places: &mut [u16]) = plain::place | wide::place;
}

kernel! {
    /// The indices of the values in either range of places.
    fn find(places: &[u16], wanted: [Places; 2], found: &mut Vec<u32>) = plain::find | wide::find;
}

mod plain {
    use super::{CELLS, Places, cell};

    pub(super) fn place(values: &[f64], lowest: i32, places: &mut [u16]) {
        for (place, value) in places.iter_mut().zip(values) {
            *place = (cell(*value) - lowest).clamp(0, CELLS) as u16;
        }
    }

    pub(super) fn find(places: &[u16], wanted: [Places; 2], found: &mut Vec<u32>) {
        find_from(0, places, wanted, found);
    }

    pub(super) fn find_from(first: usize, places: &[u16], wanted: [Places; 2], found: &mut Vec<u32>) {
        let is_wanted = |place: u16| wanted.iter().any(|wanted| wanted.has(place));
        let numbered = (first as u32..).zip(places);
        found.extend(numbered.filter(|(_, place)| is_wanted(**place)).map(|(number, _)| number));
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        _mm_storeu_si128, _mm_unpacklo_epi32, _mm256_castpd_ps, _mm256_castps_si256, _mm256_castsi256_si128,
        _mm256_cmpeq_epi16, _mm256_extracti128_si256, _mm256_max_epi32, _mm256_min_epi32, _mm256_min_epu16,
        _mm256_movemask_epi8, _mm256_or_si256, _mm256_packus_epi32, _mm256_set1_epi16, _mm256_set1_epi32,
        _mm256_setzero_si256, _mm256_shuffle_ps, _mm256_srai_epi32, _mm256_sub_epi16, _mm256_sub_epi32,
    };

    use super::{CELLS, Places, SHIFT, plain};
    use crate::LANES;
    use crate::machine::wide::{load, load_four};

    /// A cell is in the upper 32 bits of a number: eight of these make a register. The last eight overlap those before.
    #[target_feature(enable = "avx2")]
    pub(super) fn place(values: &[f64], lowest: i32, places: &mut [u16]) {
        const OF_UPPER: i32 = SHIFT as i32 - 32;
        if values.len() < 8 {
            return plain::place(values, lowest, places);
        }
        let (lowest, most) = (_mm256_set1_epi32(lowest), _mm256_set1_epi32(CELLS));
        for start in (0..values.len()).step_by(8) {
            let start = start.min(values.len() - 8);
            let (fours, _) = values[start..][..8].as_chunks::<4>();
            let [one, other] = [0, 1].map(|half| _mm256_castpd_ps(load_four(&fours[half])));
            let upper = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(one, other));
            let above = _mm256_sub_epi32(_mm256_srai_epi32::<OF_UPPER>(upper), lowest);
            let within = _mm256_min_epi32(_mm256_max_epi32(above, _mm256_setzero_si256()), most);
            // Numbers 0, 1, 4, 5 are in the lower half, 2, 3, 6, 7 in the upper one.
            let packed = _mm256_packus_epi32(within, within);
            let upper = _mm256_extracti128_si256::<1>(packed);
            let ordered = _mm_unpacklo_epi32(_mm256_castsi256_si128(packed), upper);
            let eight = &mut places[start..][..8];
            // SAFETY: eight numbers of 16 bits are as long as the register; it need not be aligned.
            unsafe { _mm_storeu_si128(eight.as_mut_ptr().cast(), ordered) };
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn find(places: &[u16], wanted: [Places; 2], found: &mut Vec<u32>) {
        let ends = wanted.map(|Places { first, last }| {
            (_mm256_set1_epi16(first as i16), _mm256_set1_epi16(last.wrapping_sub(first) as i16))
        });
        let (sixteens, rest) = places.as_chunks::<LANES>();
        for (block, sixteen) in sixteens.iter().enumerate() {
            let places = load(sixteen);
            // Values below the first wrap around and are far above it.
            let [one, other] = ends.map(|(first, reach)| {
                let above = _mm256_sub_epi16(places, first);
                _mm256_cmpeq_epi16(_mm256_min_epu16(above, reach), above)
            });
            // Two bits for each lane.
            let mut are_wanted = _mm256_movemask_epi8(_mm256_or_si256(one, other)) as u32;
            while are_wanted != 0 {
                let lane = are_wanted.trailing_zeros() / 2;
                found.push((block * LANES) as u32 + lane);
                are_wanted &= !(0b11 << (2 * lane));
            }
        }
        plain::find_from(sixteens.len() * LANES, rest, wanted, found);
    }
}
