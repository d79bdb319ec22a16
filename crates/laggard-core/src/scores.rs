//! The result of every method: a score for each component in each window.
//! In: what a [`crate::methods::Detector`] computes from the tables of a peer group. Out: [`MetricScores`].
//! Always: every window has a score for every member of the group, in the order of the members.

use crate::model::metric::Metric;
use crate::model::time::{Span, Timestamp};
use crate::tables::grid::Grid;

/// The samples at the instants after `start`, up to and including its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    pub start: Timestamp,
    pub length: Span,
}

impl Window {
    pub fn end(&self) -> Timestamp {
        self.start + self.length
    }

    /// The window of `samples` instants of a grid that begins with instant number `first`.
    pub fn of(grid: &Grid, first: usize, samples: usize) -> Window {
        Window { start: grid.instant(first) - grid.step, length: grid.step * samples as i64 }
    }
}

/// The score of one component in one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemberScore {
    /// The distance from the peers. NaN: the component could not be evaluated.
    pub score: f32,
    pub threshold: f32,
    /// The score exceeds the threshold.
    pub is_anomalous: bool,
    /// Chance hardly explains the score. The component is not faulty yet if the window is too short or too uneven for that.
    pub is_unlikely: bool,
    /// Enough windows up to and including this one are anomalous to call the component faulty.
    pub is_faulty: bool,
}

/// The scores of all members of a peer group in one window.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredWindow {
    pub window: Window,
    pub scores: Vec<MemberScore>,
}

/// The scores of a peer group in one metric, window by window, ordered by the windows' ends.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricScores {
    pub metric: &'static Metric,
    pub windows: Vec<ScoredWindow>,
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
