//! The instants of a dataset's samples, in portions that fit into memory.

use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::grid::Grid;

use crate::tables::timed_segment::Stretch;

/// The instants of a period that have a sample one step before them, from `from` to `to`.
pub fn within(stretch: Stretch, from: Timestamp, to: Timestamp, step: Span) -> Option<Grid> {
    let first = at_or_after(stretch.first, step) + step;
    let (start, end) = (at_or_after(first.max(from), step), stretch.last.min(to).floor(step));
    (start <= end).then(|| Grid::covering(start, end, step))
}

fn at_or_after(time: Timestamp, step: Span) -> Timestamp {
    let floor = time.floor(step);
    if floor == time { time } else { floor + step }
}

/// Periods in order; those at most `step` apart are joined.
pub fn joined(stretches: impl Iterator<Item = Stretch>, step: Span) -> Vec<Stretch> {
    let mut covered: Vec<Stretch> = stretches.collect();
    covered.sort_by_key(|stretch| stretch.first);
    let mut joined: Vec<Stretch> = Vec::new();
    for next in covered {
        match joined.last_mut() {
            Some(before) if next.first - before.last <= step => before.last = before.last.max(next.last),
            _ => joined.push(next),
        }
    }
    joined
}

/// A grid in parts of at most `at_once` instants.
pub fn parts(grid: Grid, at_once: usize) -> Vec<Grid> {
    let starts = (0..grid.len).step_by(at_once.max(1));
    let part =
        |start| Grid { start: grid.instant(start), step: grid.step, len: at_once.min(grid.len - start) };
    starts.map(part).collect()
}

/// The number of instants for which `components` have about `values` values.
pub fn at_once(values: usize, components: usize) -> usize {
    const FEWEST: usize = 64;
    const MOST: usize = 4096;
    (values / components.max(1)).clamp(FEWEST, MOST)
}
