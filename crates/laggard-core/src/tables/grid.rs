//! Equidistant instants, the same for every host: multiples of the step since 1970.

use std::ops::Range;

use crate::model::time::{Span, Timestamp};

/// `len` instants, `step` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    pub start: Timestamp,
    pub step: Span,
    pub len: usize,
}

impl Grid {
    /// All multiples of `step` from the one nearest to `from` to the one nearest to `to`, both included.
    pub fn covering(from: Timestamp, to: Timestamp, step: Span) -> Grid {
        let (start, end) = (from.nearest(step), to.nearest(step));
        let steps = (end - start).micros() / step.micros();
        Grid { start, step, len: usize::try_from(steps + 1).unwrap_or(0) }
    }

    pub fn instant(&self, number: usize) -> Timestamp {
        self.start + self.step * number as i64
    }

    pub fn instants(&self) -> impl Iterator<Item = Timestamp> + '_ {
        (0..self.len).map(|k| self.instant(k))
    }

    /// The numbers of the instants after `begin`, up to and including `end`.
    pub fn after(&self, begin: Timestamp, end: Timestamp) -> Range<usize> {
        let number = |time: Timestamp| {
            let steps = (time - self.start).micros().div_euclid(self.step.micros().max(1)) + 1;
            usize::try_from(steps).unwrap_or(0).min(self.len)
        };
        let first = number(begin);
        first..number(end).max(first)
    }

    /// The same grid with one more instant before the first.
    pub fn with_one_before(&self) -> Grid {
        Grid { start: self.start - self.step, step: self.step, len: self.len + 1 }
    }

    pub fn end(&self) -> Timestamp {
        self.instant(self.len.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_covers_both_ends() {
        let grid =
            Grid::covering(Timestamp::from_seconds(14), Timestamp::from_seconds(46), Span::from_seconds(15));
        let seconds: Vec<i64> = grid.instants().map(|t| t.micros() / 1_000_000).collect();
        assert_eq!(seconds, [15, 30, 45]);
    }

    #[test]
    fn a_period_has_the_instants_after_its_begin_up_to_its_end() {
        let at = Timestamp::from_seconds;
        let grid = Grid { start: at(30), step: Span::from_seconds(15), len: 4 };
        for (begin, end) in [(0, 100), (29, 75), (30, 60), (31, 44), (75, 90), (90, 20)] {
            let is_within =
                |number: &usize| (at(begin) < grid.instant(*number)) && (grid.instant(*number) <= at(end));
            let expected: Vec<usize> = (0..grid.len).filter(is_within).collect();
            assert_eq!(grid.after(at(begin), at(end)).collect::<Vec<_>>(), expected, "{begin} {end}");
        }
    }

    #[test]
    fn a_grid_whose_end_is_before_its_start_is_empty() {
        let grid = Grid::covering(Timestamp::from_seconds(60), Timestamp::from_seconds(0), Span::SECOND);
        assert_eq!(grid.len, 0);
    }
}
