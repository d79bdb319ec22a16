//! The lowest and the highest value of each member of a group in each column of a picture.
//! In: the [`Table`]s of the group, in chunks. Out: columns. Always: memory does not grow with the length of the recording,
//! and no spike is lost; like a window, a column covers the time after its begin, up to and including its end.

use super::Table;
use crate::model::time::{Span, Timestamp};

/// A whole recording of one metric of a group, in columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// The begin of the first column.
    pub start: Timestamp,
    /// The length of a column.
    pub column: Span,
    pub columns: usize,
    /// For each member, one value for each column; NaN if there is none.
    lows: Vec<f32>,
    highs: Vec<f32>,
}

const MOST_COLUMNS: usize = 870;
const FEWEST_COLUMNS: usize = 120;
/// The limit of stored values, unless there are very many members.
const MOST_VALUES: usize = 4_000_000;

impl Envelope {
    /// For the time after `from` up to `to`.
    pub fn new(from: Timestamp, to: Timestamp, step: Span, members: usize) -> Envelope {
        let most = (MOST_VALUES / members.max(1)).clamp(FEWEST_COLUMNS, MOST_COLUMNS) as i64;
        let step = Span::from_micros(step.micros().max(1));
        let steps = ((to - from).micros() / step.micros()).max(1);
        let column = step * (steps.saturating_add(most - 1) / most);
        let columns =
            usize::try_from((steps - 1) / (column.micros() / step.micros()).max(1) + 1).unwrap_or(1);
        let empty = vec![f32::NAN; members * columns];
        Envelope { start: from, column, columns, lows: empty.clone(), highs: empty }
    }

    /// Adds a table with a row for each member.
    pub fn take(&mut self, table: &Table) {
        for (number, instant) in table.grid.instants().enumerate() {
            let offset = (instant - self.start).micros() - 1;
            let column = usize::try_from(offset.div_euclid(self.column.micros())).ok();
            let Some(column) = column.filter(|column| *column < self.columns) else { continue };
            for member in 0..table.components.len().min(self.members()) {
                let (value, at) = (table.row(member)[number] as f32, member * self.columns + column);
                // `min` and `max` skip NaN.
                self.lows[at] = self.lows[at].min(value);
                self.highs[at] = self.highs[at].max(value);
            }
        }
    }

    pub fn members(&self) -> usize {
        self.lows.len() / self.columns.max(1)
    }

    /// The lowest and the highest value of a member in each column.
    pub fn row(&self, member: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
        let range = member * self.columns..(member + 1) * self.columns;
        let pairs = self.lows[range.clone()].iter().zip(&self.highs[range]);
        pairs.map(|(low, high)| (f64::from(*low), f64::from(*high)))
    }

    /// No member has a value.
    pub fn is_empty(&self) -> bool {
        self.lows.iter().all(|low| low.is_nan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::Metric;
    use crate::tables::grid::Grid;

    #[test]
    fn a_long_recording_keeps_its_spikes_and_gaps() {
        let (start, step) = (Timestamp::from_seconds(0), Span::SECOND);
        let grid = Grid { start: start + step, step, len: 8700 };
        let mut values = vec![1.0; grid.len];
        values[4321] = 50.0;
        values[100..200].fill(f64::NAN);
        let mut envelope = Envelope::new(start, grid.end(), step, 1);
        let metric = Metric::named("await").unwrap();
        envelope.take(&Table { metric, grid, components: vec!["a".into()], values });
        let row: Vec<(f64, f64)> = envelope.row(0).collect();
        assert_eq!((row.len(), row[432], row[433]), (870, (1.0, 50.0), (1.0, 1.0)));
        assert!(row[10].0.is_nan() && row[19].1.is_nan() && !row[20].0.is_nan());
    }

    #[test]
    fn a_short_one_has_a_column_for_each_instant() {
        let at = Timestamp::from_seconds;
        let envelope = Envelope::new(at(0), at(9), Span::SECOND, 3);
        assert_eq!((envelope.columns, envelope.members(), envelope.is_empty()), (9, 3, true));
        assert_eq!(Envelope::new(at(9), at(0), Span::ZERO, 0).members(), 0);
    }
}
