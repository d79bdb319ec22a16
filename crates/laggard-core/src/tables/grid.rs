//! Instants at equal distances, the same for every host: multiples of the step since 1970.

use crate::model::time::{Span, Timestamp};

/// `len` instants, `step` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The first instant.
    pub start: Timestamp,
    /// From one instant to the next.
    pub step: Span,
    /// How many.
    pub len: usize,
}

impl Grid {
    /// All multiples of `step` from the one nearest to `from` to the one nearest to `to`, both included.
    pub fn covering(from: Timestamp, to: Timestamp, step: Span) -> Grid {
        let (start, end) = (from.nearest(step), to.nearest(step));
        let steps = (end - start).micros() / step.micros();
        Grid { start, step, len: usize::try_from(steps + 1).unwrap_or(0) }
    }

    /// The instant with that number.
    pub fn instant(&self, number: usize) -> Timestamp {
        self.start + self.step * number as i64
    }

    /// The instants in order.
    pub fn instants(&self) -> impl Iterator<Item = Timestamp> + '_ {
        (0..self.len).map(|k| self.instant(k))
    }

    /// The same grid with one more instant before the first, to compare the first with.
    pub fn with_one_before(&self) -> Grid {
        Grid { start: self.start - self.step, step: self.step, len: self.len + 1 }
    }

    /// The last instant.
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
