//! What the columns of a stand-in's sum add up to, row by row.
//! In: columns of a table in memory, or of a message. Out: one sum a row. Always: sums wrap, and what is absent
//! counts as 0.

use std::ops::Range;

use arrow_buffer::bit_util::get_bit;
use laggard_core::samples::{ABSENT, Columns, RawTable};

use crate::sealed::stand_in::StandIn;

/// The sum of each row, and what it is for.
#[derive(Debug)]
pub(crate) struct Sums {
    stand_in: &'static StandIn,
    sums: Vec<u64>,
}

impl Sums {
    /// Of so many rows, with nothing added up. The memory may be of others before.
    pub(crate) fn new(stand_in: &'static StandIn, rows: usize, mut sums: Vec<u64>) -> Self {
        sums.clear();
        sums.resize(rows, 0);
        Sums { stand_in, sums }
    }

    /// The memory, for others.
    pub(crate) fn into_memory(self) -> Vec<u64> {
        self.sums
    }

    /// What is written for the value of a row.
    pub(crate) fn written(&self, row: usize, value: u64) -> u64 {
        self.stand_in.written(value, self.sums[row])
    }

    /// Adds a column of some rows of a table; time is the first.
    pub(crate) fn add_table(&mut self, table: &RawTable, index: usize, rows: Range<usize>) {
        match (index, &table.columns) {
            (0, _) => self.add(table.time[rows].iter().map(|time| time.cast_unsigned())),
            (3.., Columns::Counts(columns)) => {
                let counts = columns[index - 3].get(rows).unwrap_or_default();
                self.add(counts.iter().map(|&count| if count == ABSENT { 0 } else { count }));
            }
            _ => {}
        }
    }

    /// Adds values of a message from row `first` on; `present` says of all its rows whether they have one.
    pub(crate) fn add_message(&mut self, values: &[u8], present: &[u8], first: usize) {
        let values = values.as_chunks::<8>().0.iter().map(|value| u64::from_le_bytes(*value));
        match present {
            [] => self.add(values),
            _ => {
                let value = |(row, value)| if get_bit(present, first + row) { value } else { 0 };
                self.add(values.enumerate().map(value));
            }
        }
    }

    fn add(&mut self, values: impl Iterator<Item = u64>) {
        self.sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.wrapping_add(value));
    }
}
