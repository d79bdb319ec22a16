//! One column of a row group, being put in order.
//! In: values in the order of recording. Out: [`Column`]. Always: a component's values keep their order.

use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::bit_chunk_iterator::UnalignedBitChunk;
use arrow_buffer::bit_util::get_bit;
use laggard_core::samples::{ABSENT, Columns, RawTable, UPTIME_UNKNOWN};

/// The components of some rows.
pub(crate) type Numbers = Arc<[u32]>;

/// A column in order: 64 bits a value, each at its own place.
#[derive(Debug)]
pub(crate) struct Column {
    /// Where nothing was put, anything may be.
    pub(crate) values: Vec<u64>,
    /// Which of these there are; nothing when there are all, or none.
    pub(crate) present: Option<Vec<bool>>,
    /// Whether there is not a single value.
    pub(crate) is_absent: bool,
}

/// A column of which every value goes to its own place.
pub(crate) struct Sorted {
    values: Vec<u64>,
    present: Option<Vec<bool>>,
    /// For each component, by its number: where its next value goes.
    next: Vec<u32>,
    has_value: bool,
    /// Rows before the first value: most columns that begin so never have one, and then need no places.
    before: Vec<Numbers>,
}

impl Sorted {
    /// A column of so many places; `next` is where the first value of each component goes.
    pub(crate) fn new(mut values: Vec<u64>, places: usize, next: Vec<u32>) -> Self {
        values.resize(places, 0);
        Sorted { values, present: None, next, has_value: false, before: Vec::new() }
    }

    /// Adds some rows of a table; `numbers` are those of their components. What is put in a row's place is up to
    /// `written`.
    pub(crate) fn add_table(
        &mut self,
        table: &RawTable,
        index: usize,
        rows: Range<usize>,
        numbers: &Numbers,
        written: impl Fn(usize, u64) -> u64,
    ) {
        let (uptime, number) =
            (|row, u: &i64| written(row, u.cast_unsigned()), |row, n: &f64| written(row, n.to_bits()));
        match (index, &table.columns) {
            (0, _) => self.add_all(table.time[rows].iter().map(|time| time.cast_unsigned()), numbers),
            (1, _) => self.add(&table.uptime[rows], |&u| u == UPTIME_UNKNOWN, uptime, numbers),
            (_, Columns::Counts(columns)) => match columns[index - 3].get(rows) {
                Some(counts) => {
                    self.add(counts, |&count| count == ABSENT, |row, &count| written(row, count), numbers)
                }
                None => self.add_none(numbers),
            },
            (_, Columns::Numbers(columns)) => match columns[index - 3].get(rows) {
                Some(values) => self.add(values, |number| number.is_nan(), number, numbers),
                None => self.add_none(numbers),
            },
        }
    }

    fn add<T>(
        &mut self,
        values: &[T],
        is_absent: impl Fn(&T) -> bool,
        bits: impl Fn(usize, &T) -> u64,
        numbers: &Numbers,
    ) {
        let rows = values.iter().enumerate();
        match values.iter().filter(|value| is_absent(value)).count() {
            0 => self.add_all(rows.map(|(row, value)| bits(row, value)), numbers),
            absent if absent == values.len() => self.add_none(numbers),
            _ => {
                let value = |(row, value)| (!is_absent(value)).then(|| bits(row, value));
                self.add_some(rows.map(value), numbers);
            }
        }
    }

    /// Adds values of a message from row `first` on; `present` says of all its rows whether they have one.
    pub(crate) fn add_message(
        &mut self,
        values: &[u8],
        present: &[u8],
        first: usize,
        numbers: &Numbers,
        written: impl Fn(usize, u64) -> u64,
    ) {
        let (values, _) = values.as_chunks::<8>();
        let bits = |row: usize| written(row, u64::from_le_bytes(values[row]));
        let rows = values.len();
        match present {
            [] => self.add_all((0..rows).map(bits), numbers),
            _ => match UnalignedBitChunk::new(present, first, rows).count_ones() {
                0 => self.add_none(numbers),
                all if all == rows => self.add_all((0..rows).map(bits), numbers),
                _ => {
                    let value = |row| get_bit(present, first + row).then(|| bits(row));
                    self.add_some((0..rows).map(value), numbers);
                }
            },
        }
    }

    fn add_all(&mut self, bits: impl Iterator<Item = u64>, numbers: &Numbers) {
        self.begin();
        let Sorted { values, next, .. } = self;
        for (bits, &number) in bits.zip(&**numbers) {
            let place = &mut next[number as usize];
            values[*place as usize] = bits;
            *place += 1;
        }
    }

    fn add_none(&mut self, numbers: &Numbers) {
        match self.has_value {
            true => self.pass(numbers),
            false => self.before.push(numbers.clone()),
        }
    }

    fn add_some(&mut self, bits: impl Iterator<Item = Option<u64>>, numbers: &Numbers) {
        self.begin();
        let length = self.values.len();
        let present = self.present.get_or_insert_with(|| vec![true; length]);
        for (bits, &number) in bits.zip(&**numbers) {
            let place = &mut self.next[number as usize];
            match bits {
                Some(bits) => self.values[*place as usize] = bits,
                None => present[*place as usize] = false,
            }
            *place += 1;
        }
    }

    /// There is a value.
    fn begin(&mut self) {
        if !self.has_value {
            self.has_value = true;
            std::mem::take(&mut self.before).iter().for_each(|numbers| self.pass(numbers));
        }
    }

    /// Passes over rows without a value.
    fn pass(&mut self, numbers: &Numbers) {
        self.add_some(numbers.iter().map(|_| None), numbers);
    }

    /// The column, once all rows are added.
    pub(crate) fn finish(self) -> Column {
        let Sorted { values, present, has_value, .. } = self;
        Column { values, present, is_absent: !has_value }
    }
}
