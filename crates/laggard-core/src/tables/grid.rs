//! Equidistant instants, the same for every host: multiples of the step since 1970.

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
    fn a_grid_whose_end_is_before_its_start_is_empty() {
        let grid = Grid::covering(Timestamp::from_seconds(60), Timestamp::from_seconds(0), Span::SECOND);
        assert_eq!(grid.len, 0);
    }
}
