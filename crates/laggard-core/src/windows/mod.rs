//! Stretches of time over which components are compared.
//! In: [`crate::tables::Table`]. Out: [`Window`]s of it. Always: a window holds the samples whose step ends in it.

pub mod rolling;
pub mod smoothing;

use serde::{Deserialize, Serialize};

use crate::model::time::{Span, Timestamp};
use crate::tables::grid::Grid;

/// From `start`, for `length`: the samples at the instants after `start` up to and including its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// Where it begins.
    pub start: Timestamp,
    /// How long it is.
    pub length: Span,
}

/// Windows of `size` samples, each begun `shift` samples after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sliding {
    /// Samples in a window.
    pub size: usize,
    /// Samples from the begin of one window to the begin of the next.
    pub shift: usize,
}

impl Window {
    /// Where it ends.
    pub fn end(&self) -> Timestamp {
        self.start + self.length
    }

    /// The window of `samples` instants of a grid, from the one with that number on.
    pub fn of(grid: &Grid, first: usize, samples: usize) -> Window {
        Window { start: grid.instant(first) - grid.step, length: grid.step * samples as i64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_begins_a_step_before_its_first_sample() {
        let grid = Grid { start: Timestamp::from_seconds(60), step: Span::from_seconds(15), len: 8 };
        let window = Window::of(&grid, 0, 4);
        assert_eq!(window.start, Timestamp::from_seconds(45));
        assert_eq!(window.end(), grid.instant(3));
    }
}
