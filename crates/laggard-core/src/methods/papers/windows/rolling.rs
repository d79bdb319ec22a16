//! Smoothed windows over a table that arrives in chunks.

use laggard_kernels::rows::{Rows, prefetch};

use super::Sliding;
use super::smoothing::Smoothing;
use crate::model::time::{Span, Timestamp};
use crate::scores::Window;
use crate::tables::Table;
use crate::tables::grid::Grid;

/// The windows of one metric of a peer group.
///
/// The first window begins with the first mean that has its full span, and each next one a shift later, independent of how
/// the recording is cut into chunks. After a gap of the whole group the windows start again.
#[derive(Clone, Debug)]
pub struct Rolling {
    smoothing: Smoothing,
    sliding: Sliding,
    members: usize,
    /// Raw samples that later means need: for each member, up to `span - 1`.
    raw: Vec<f64>,
    raw_len: usize,
    /// Means that later windows need: `capacity` places for each member, of which `len` are used.
    means: Vec<f64>,
    len: usize,
    capacity: usize,
    /// The number of these that no window needs any more. They are removed when the next means are added.
    done: usize,
    // Buffers.
    joined: Vec<f64>,
    threes: Vec<f64>,
    /// The instant of the first mean, and of the next sample.
    first: Option<Timestamp>,
    next: Option<(Timestamp, Span)>,
}

/// Samples of all members that are smoothed together, so that they stay in the processor's cache.
const CHUNK_VALUES: usize = 1 << 17;

/// At most this many samples of each member are smoothed together: more cost memory without being faster.
const MOST_CHUNK_SAMPLES: usize = 192;

/// Samples are prefetched this many members ahead.
const AHEAD: usize = 8;

impl Rolling {
    /// Sizes of 0 count as 1.
    pub fn new(smoothing: Smoothing, sliding: Sliding, members: usize) -> Rolling {
        let sliding = Sliding { size: sliding.size.max(1), shift: sliding.shift.max(1) };
        let smoothing = Smoothing { span: smoothing.span.max(1), ..smoothing };
        let chunk = (CHUNK_VALUES / members.max(1)).min(MOST_CHUNK_SAMPLES);
        // Whole shifts: when all places are used, the last window is complete, and no mean is kept longer than needed.
        let more = (chunk / sliding.shift).saturating_sub(1) * sliding.shift;
        let capacity = sliding.size.max(sliding.shift) + more;
        Rolling {
            smoothing,
            sliding,
            members,
            raw: Vec::new(),
            raw_len: 0,
            // Zeroed memory costs nothing until it is written.
            means: vec![0.0; capacity * members],
            len: 0,
            capacity,
            done: 0,
            joined: Vec::new(),
            threes: Vec::new(),
            first: None,
            next: None,
        }
    }

    /// Adds the next chunk and calls `show` for every window that it completes. A table with another number of members is
    /// ignored.
    pub fn advance(&mut self, table: &Table, mut show: impl FnMut(Window, Rows)) {
        if table.components.len() != self.members || self.members == 0 || table.grid.len == 0 {
            return;
        }
        self.continue_or_begin(&table.grid);
        let mut from = 0;
        while from < table.grid.len {
            let to = self.up_to(from).min(table.grid.len);
            self.smooth(table, from, to);
            self.show_complete(table.grid.step, &mut show);
            from = to;
        }
        self.keep(table);
        self.next = Some((table.grid.end() + table.grid.step, table.grid.step));
    }

    fn continue_or_begin(&mut self, grid: &Grid) {
        if self.next != Some((grid.start, grid.step)) {
            (self.raw_len, self.len, self.done, self.first) = (0, 0, 0, None);
            self.raw.clear();
        }
        let before_first_mean = self.smoothing.span - 1 - self.raw_len;
        self.first.get_or_insert(grid.instant(before_first_mean));
    }

    /// The first column after `from` without a place for its mean. The first columns of all have no mean.
    fn up_to(&self, from: usize) -> usize {
        let without = (self.smoothing.span - 1).saturating_sub(self.raw_len + from);
        from + without + self.capacity - (self.len - self.done)
    }

    /// Appends the means of the columns `from..to`.
    fn smooth(&mut self, table: &Table, from: usize, to: usize) {
        let before = self.smoothing.span - 1;
        let first = from.max(before.saturating_sub(self.raw_len));
        let fresh = to.saturating_sub(first);
        if fresh == 0 {
            return;
        }
        let kept = self.len - self.done;
        for member in 0..self.members {
            if member + AHEAD < self.members {
                prefetch(&table.row(member + AHEAD)[first.saturating_sub(before)..to]);
            }
            let row = &table.row(member)[..to];
            let samples = match first.checked_sub(before) {
                Some(begin) => &row[begin..],
                // They begin in the previous chunk.
                None => {
                    let last = &self.raw[..(member + 1) * self.raw_len];
                    self.joined.clear();
                    self.joined.extend_from_slice(&last[last.len() - (before - first)..]);
                    self.joined.extend_from_slice(row);
                    &self.joined
                }
            };
            let means = &mut self.means[member * self.capacity..][..self.capacity];
            means.copy_within(self.done..self.len, 0);
            self.smoothing.means(samples, &mut self.threes, &mut means[kept..][..fresh]);
        }
        (self.len, self.done) = (kept + fresh, 0);
    }

    /// Keeps the raw samples that the means of the next chunk need.
    fn keep(&mut self, table: &Table) {
        let (before, joined) = (self.raw_len, self.raw_len + table.grid.len);
        let kept = joined.min(self.smoothing.span - 1);
        let mut raw = Vec::with_capacity(kept * self.members);
        for member in 0..self.members {
            let (last, row) = (&self.raw[member * before..][..before], table.row(member));
            raw.extend_from_slice(&last[before - kept.saturating_sub(row.len())..]);
            raw.extend_from_slice(&row[row.len().saturating_sub(kept)..]);
        }
        (self.raw, self.raw_len) = (raw, kept);
    }

    fn show_complete(&mut self, step: Span, show: &mut impl FnMut(Window, Rows)) {
        let Some(first) = self.first else { return };
        let Sliding { size, shift } = self.sliding;
        let begun = self.done;
        let mut begin = begun;
        while begin + size.max(shift) <= self.len {
            let window =
                Window { start: first + step * ((begin - begun) as i64 - 1), length: step * size as i64 };
            show(window, Rows::new(&self.means, self.capacity, begin, size));
            begin += shift;
        }
        self.done = begin;
        self.first = Some(first + step * (begin - begun) as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::Metric;
    use proptest::prelude::*;

    fn table(rows: &[Vec<f64>], from: usize, to: usize) -> Table {
        let step = Span::from_seconds(15);
        let start = Timestamp::from_seconds(15 * from as i64);
        let mut table = Table::new(Metric::named("await").unwrap(), Grid { start, step, len: to - from });
        for (number, row) in rows.iter().enumerate() {
            table.components.push(format!("c{number}").into());
            table.values.extend_from_slice(&row[from..to]);
        }
        table
    }

    fn windows(rolling: &mut Rolling, table: &Table) -> Vec<(Window, Vec<u64>)> {
        let mut seen = Vec::new();
        rolling.advance(table, |window, rows| {
            seen.push((window, rows.iter().flatten().map(|value| value.to_bits()).collect()));
        });
        seen
    }

    #[test]
    fn the_first_window_begins_with_the_first_full_mean() {
        let rows = [(0..20).map(f64::from).collect::<Vec<_>>()];
        let mut rolling = Rolling::new(Smoothing::of(5), Sliding { size: 8, shift: 4 }, 1);
        let seen = windows(&mut rolling, &table(&rows, 0, 20));
        assert_eq!(seen.len(), 3);
        assert_eq!(seen[0].0, Window::of(&table(&rows, 0, 20).grid, 4, 8));
        assert_eq!(seen[0].1[0], 2.0f64.to_bits());
        assert_eq!(seen[1].0.start - seen[0].0.start, Span::from_seconds(60));
    }

    #[test]
    fn no_window_spans_a_gap() {
        let rows = [vec![1.0; 60]];
        let mut rolling = Rolling::new(Smoothing::of(1), Sliding { size: 8, shift: 8 }, 1);
        assert_eq!(windows(&mut rolling, &table(&rows, 0, 15)).len(), 1);
        let after = windows(&mut rolling, &table(&rows, 16, 32));
        assert_eq!(after[0].0.start, Timestamp::from_seconds(15 * 15));
    }

    #[test]
    fn windows_further_apart_than_they_are_long_leave_samples_out() {
        let rows = [(0..30).map(f64::from).collect::<Vec<_>>()];
        let mut rolling = Rolling::new(Smoothing::of(1), Sliding { size: 2, shift: 10 }, 1);
        let seen = windows(&mut rolling, &table(&rows, 0, 30));
        let first: Vec<f64> = seen.iter().map(|(_, values)| f64::from_bits(values[0])).collect();
        assert_eq!(first, [0.0, 10.0, 20.0]);
    }

    proptest! {
        #[test]
        fn cutting_a_recording_changes_no_window(
            values in proptest::collection::vec(prop_oneof![4 => 0.0..9.0, 1 => Just(f64::NAN)], 600),
            mut cuts in proptest::collection::vec(1usize..300, 0..6),
            span in 1usize..17, size in 1usize..40, shift in 1usize..40,
        ) {
            let rows: Vec<Vec<f64>> = values.chunks(300).map(<[f64]>::to_vec).collect();
            let fresh = || Rolling::new(Smoothing::of(span), Sliding { size, shift }, 2);
            let whole = windows(&mut fresh(), &table(&rows, 0, 300));
            cuts.extend([0, 300]);
            cuts.sort_unstable();
            let mut rolling = fresh();
            let cut: Vec<_> =
                cuts.windows(2).flat_map(|c| windows(&mut rolling, &table(&rows, c[0], c[1]))).collect();
            prop_assert_eq!(whole, cut);
        }
    }
}
