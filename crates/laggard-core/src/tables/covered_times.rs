//! Covered times, and the instants within them, in portions that fit into memory.

use super::grid::Grid;
use crate::model::time::{Span, Timestamp};

/// A time without a gap between files, from its first sample to its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoveredTime {
    pub first: Timestamp,
    pub last: Timestamp,
}

impl CoveredTime {
    /// The instants from `from` to `to` that have a sample one step earlier to compare with.
    pub fn grid(self, from: Timestamp, to: Timestamp, step: Span) -> Option<Grid> {
        let first = at_or_after(self.first, step) + step;
        let (start, end) = (at_or_after(first.max(from), step), self.last.min(to).floor(step));
        (start <= end).then(|| Grid::covering(start, end, step))
    }
}

fn at_or_after(time: Timestamp, step: Span) -> Timestamp {
    let floor = time.floor(step);
    if floor == time { time } else { floor + step }
}

/// Covered times in the order of time; those at most `step` apart are joined.
pub fn joined(covered: impl Iterator<Item = CoveredTime>, step: Span) -> Vec<CoveredTime> {
    let mut covered: Vec<CoveredTime> = covered.collect();
    covered.sort_by_key(|covered| covered.first);
    let mut joined: Vec<CoveredTime> = Vec::new();
    for next in covered {
        match joined.last_mut() {
            Some(before) if next.first - before.last <= step => before.last = before.last.max(next.last),
            _ => joined.push(next),
        }
    }
    joined
}

/// A grid in portions of at most `instants` instants.
pub fn portions(grid: Grid, instants: usize) -> Vec<Grid> {
    let starts = (0..grid.len).step_by(instants.max(1));
    let part =
        |start| Grid { start: grid.instant(start), step: grid.step, len: instants.min(grid.len - start) };
    starts.map(part).collect()
}

/// The instants of a portion that holds about `values` values, with `each` at an instant.
pub fn portion_length(values: usize, each: usize) -> usize {
    const FEWEST: usize = 64;
    const MOST: usize = 4096;
    (values / each.max(1)).clamp(FEWEST, MOST)
}
