//! Quartiles by selection: a histogram of leading bits locates them, one pass collects the values there. The histogram is
//! kept from window to window, so each value is counted once.

use std::collections::VecDeque;

use crate::extent::{Extent, extent};
use crate::rows::Rows;
use crate::tally::{CELLS, OCTAVE, Places, STRIDE, Tally, cell};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    pub first: f64,
    pub third: f64,
}

impl Quartiles {
    pub fn range(&self) -> f64 {
        self.third - self.first
    }
}

/// The state of a window, kept for the next one, which shares most of its columns.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    columns: usize,
    rows: usize,
    /// The cell of the tallies' first place.
    lowest: i32,
    /// Consecutive ranges of columns.
    parts: VecDeque<Tally>,
    near: [Vec<f64>; 2],
}

/// Rows that are sampled to estimate the highest value.
const SAMPLED: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Bracket {
    places: Places,
    /// The number of lower values.
    below: usize,
}

impl Overview {
    /// Takes a window. All columns except the last `fresh` are the last ones of the previous window; without a previous
    /// window, all are fresh.
    pub fn measure(&mut self, rows: Rows, fresh: usize) -> Extent {
        let is_next = fresh < rows.columns() && (self.columns, self.rows) == (rows.columns(), rows.count());
        if !(is_next && self.append(rows, fresh)) {
            self.begin(rows, fresh);
        }
        self.extent()
    }

    /// Counts only the last columns. Returns false if the parts would become uneven, or the values do not fit the tallies.
    fn append(&mut self, rows: Rows, fresh: usize) -> bool {
        if self.parts.len() * fresh != self.columns {
            return false;
        }
        let Some(mut part) = self.parts.pop_front() else { return false };
        part.count(rows.last(fresh), self.lowest);
        let extent = part.extent;
        self.parts.push_back(part);
        self.is_fitting(extent)
    }

    /// The highest value is in the upper half of the cells.
    fn is_fitting(&self, extent: Extent) -> bool {
        let highest = cell(extent.high) - self.lowest;
        extent.count == 0 || (CELLS / 2..CELLS).contains(&highest)
    }

    fn begin(&mut self, rows: Rows, fresh: usize) {
        (self.columns, self.rows) = (rows.columns(), rows.count());
        let is_even = fresh > 0 && rows.columns().is_multiple_of(fresh);
        let length = if is_even { fresh } else { rows.columns() };
        // A sample of rows gives the highest value approximately, so that one pass over all rows is usually enough.
        let every = (rows.count() / SAMPLED).max(1);
        let some = (0..rows.count()).step_by(every).map(|number| extent(rows.some(number, 1)));
        self.count(rows, length, some.fold(Extent::NOTHING, Extent::with));
        let all = self.extent();
        if !self.is_fitting(all) {
            self.count(rows, length, all);
        }
    }

    /// Counts all columns, `length` together, with room for values up to four times as high.
    fn count(&mut self, rows: Rows, length: usize, extent: Extent) {
        self.lowest = cell(extent.high.max(0.0)) + 2 * OCTAVE - CELLS;
        self.parts.clear();
        for first in (0..rows.columns()).step_by(length) {
            let (stretch, mut part) = (rows.stretch(first, length), Tally::default());
            part.count(stretch, self.lowest);
            self.parts.push_back(part);
        }
    }

    fn extent(&self) -> Extent {
        self.parts.iter().map(|part| part.extent).fold(Extent::NOTHING, Extent::with)
    }

    /// The quartiles of all values except NaN, interpolated as by default in numpy and R. None if there are no values. The
    /// window is the last one measured.
    pub fn quartiles(&mut self, rows: Rows, extent: Extent) -> Option<Quartiles> {
        if extent.count == 0 {
            return None;
        }
        if !self.is_telling(extent) {
            return Some(by_selection(rows, &mut self.near[0]));
        }
        let brackets = [0.25, 0.75].map(|share| self.bracket(extent, share));
        self.near.iter_mut().for_each(Vec::clear);
        let length = self.columns / self.parts.len();
        for (number, part) in self.parts.iter_mut().enumerate() {
            let stretch = rows.stretch(number * length, length);
            part.gather(stretch, brackets.map(|bracket| bracket.places), &mut self.near);
        }
        let [first, third] = &mut self.near;
        let [below, above] = brackets.map(|bracket| bracket.below);
        let (first, third) =
            (between(first, below, extent.count, 0.25), between(third, above, extent.count, 0.75));
        Some(Quartiles { first, third })
    }

    /// All NaN were counted as missing: some bit patterns of NaN are counted as the lowest or highest value.
    fn is_telling(&self, extent: Extent) -> bool {
        self.held(CELLS as usize) + extent.count == self.rows * self.columns
    }

    /// The places that hold the values on both sides of a quartile.
    fn bracket(&self, extent: Extent, share: f64) -> Bracket {
        let (rank, _) = rank(extent.count, share);
        let (first, below) = self.place(rank, (0, 0));
        let (last, _) = self.place((rank + 1).min(extent.count - 1), (first, below));
        Bracket { places: Places { first: first as u16, last: last as u16 }, below }
    }

    /// The place that holds the value of a rank, and the number of values before it, starting from an earlier place.
    fn place(&self, rank: usize, (mut place, mut seen): (usize, usize)) -> (usize, usize) {
        let last = CELLS as usize - 1;
        while place + STRIDE <= last && place.is_multiple_of(STRIDE) {
            let stride: u32 = self.parts.iter().map(|part| part.stride(place)).sum();
            if seen + stride as usize > rank {
                break;
            }
            (place, seen) = (place + STRIDE, seen + stride as usize);
        }
        while place < last && seen + self.held(place) <= rank {
            (place, seen) = (place + 1, seen + self.held(place));
        }
        (place, seen)
    }

    fn held(&self, place: usize) -> usize {
        self.parts.iter().map(|part| part.held(place) as usize).sum()
    }
}

fn by_selection(rows: Rows, all: &mut Vec<f64>) -> Quartiles {
    all.clear();
    all.extend(rows.iter().flatten().filter(|value| !value.is_nan()));
    let count = all.len();
    Quartiles { first: between(all, 0, count, 0.25), third: between(all, 0, count, 0.75) }
}

/// The position of a quantile of `count` values: the rank below, and the fraction to the next.
fn rank(count: usize, share: f64) -> (usize, f64) {
    let exact = (count - 1) as f64 * share;
    (exact as usize, exact.fract())
}

/// The quantile of `count` values, of which `near` are those that follow the `below` lowest.
fn between(near: &mut [f64], below: usize, count: usize, share: f64) -> f64 {
    let (rank, fraction) = rank(count, share);
    let (_, &mut low, above) = near.select_nth_unstable_by(rank - below, f64::total_cmp);
    if fraction == 0.0 {
        return low;
    }
    let high = above.iter().copied().fold(f64::INFINITY, f64::min);
    low + (high - low) * fraction
}
