//! One column of some rows, as 64 bits a value, wherever the rows are: in a tail, or still in memory.
//! In: messages that were found to be sound, or raw tables. Out: sorted columns. Always: no more of a message
//! is read than the column, and what reading needs is kept for the next one.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float64Array, Int64Array, TimestampMicrosecondArray, UInt64Array, new_null_array,
};
use arrow_buffer::bit_chunk_iterator::UnalignedBitChunk;
use arrow_buffer::bit_util::get_bit;
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::DataType;
use laggard_core::samples::{ABSENT, Columns, RawTable, UPTIME_UNKNOWN};
use zstd::bulk::Decompressor;

use crate::frame::{Place, Stretch};

/// Where rows are.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// In a message of a tail.
    Tail(Place),
    /// In memory.
    Memory(Arc<RawTable>),
}

/// Reads columns.
pub(crate) struct ColumnReader<'a> {
    tail: Option<&'a File>,
    unpacker: Unpacker,
    present: Vec<u8>,
    values: Vec<u8>,
    /// The memory of a column that is done with, for the next one.
    column: Vec<u64>,
}

impl<'a> ColumnReader<'a> {
    /// A reader of rows in memory, or in this tail.
    pub(crate) fn new(tail: Option<&'a File>) -> Self {
        let unpacker = Unpacker { decompressor: None, packed: Vec::new() };
        ColumnReader { tail, unpacker, present: Vec::new(), values: Vec::new(), column: Vec::new() }
    }

    /// A column of that length whose values go to these places.
    pub(crate) fn column<'p>(&mut self, places: &'p [u32], length: usize) -> Sorted<'p> {
        let mut values = std::mem::take(&mut self.column);
        values.resize(length, 0);
        Sorted { values, places, added: 0, absent: Vec::new() }
    }

    /// Takes back the memory of a column.
    pub(crate) fn done(&mut self, column: ArrayRef) {
        let buffer = column.to_data().buffers().first().cloned();
        drop(column);
        if let Some(Ok(values)) = buffer.map(Buffer::into_vec) {
            self.column = values;
        }
    }

    /// Adds one column of some rows to what is being sorted.
    pub(crate) fn read(
        &mut self,
        source: &Source,
        index: usize,
        rows: Range<usize>,
        column: &mut Sorted<'_>,
    ) -> io::Result<()> {
        match source {
            Source::Memory(table) => column.add_table(table, index, rows),
            Source::Tail(place) => {
                self.unpack(place, index)?;
                let values = self.values.get(rows.start * 8..rows.end * 8).ok_or_else(unsound)?;
                column.add_message(values, &self.present, rows.start);
            }
        }
        Ok(())
    }

    fn unpack(&mut self, place: &Place, index: usize) -> io::Result<()> {
        let tail = self.tail.ok_or_else(|| io::Error::other("expected the tail of a message, found none"))?;
        let (present, values) = place.buffers(index).ok_or_else(unsound)?;
        self.unpacker.unpack(tail, place.is_packed(), present, &mut self.present)?;
        self.unpacker.unpack(tail, place.is_packed(), values, &mut self.values)?;
        let is_whole = self.present.is_empty() || self.present.len() >= place.rows().div_ceil(8);
        if is_whole { Ok(()) } else { Err(unsound()) }
    }
}

/// Buffers of a message start with their unpacked size, if they are packed at all.
struct Unpacker {
    decompressor: Option<Decompressor<'static>>,
    packed: Vec<u8>,
}

const SIZE_BYTES: usize = 8;
/// As a size: not packed after all.
const AS_IT_IS: i64 = -1;

impl Unpacker {
    fn unpack(
        &mut self,
        tail: &File,
        is_packed: bool,
        stretch: Stretch,
        bytes: &mut Vec<u8>,
    ) -> io::Result<()> {
        bytes.clear();
        self.packed.resize(stretch.length, 0);
        tail.read_exact_at(&mut self.packed, stretch.offset)?;
        if !is_packed || self.packed.is_empty() {
            std::mem::swap(bytes, &mut self.packed);
            return Ok(());
        }
        let (size, packed) = self.packed.split_first_chunk::<SIZE_BYTES>().ok_or_else(unsound)?;
        match i64::from_le_bytes(*size) {
            AS_IT_IS => bytes.extend_from_slice(packed),
            size => {
                bytes.reserve(usize::try_from(size).map_err(|_| unsound())?);
                let decompressor = match &mut self.decompressor {
                    Some(decompressor) => decompressor,
                    none => none.insert(Decompressor::new()?),
                };
                decompressor.decompress_to_buffer(packed, bytes)?;
            }
        }
        Ok(())
    }
}

/// It was sound when it was read for the first time.
fn unsound() -> io::Error {
    io::Error::other("expected a message, found that it has changed")
}

/// One column, of which every value goes to its own place.
pub(crate) struct Sorted<'a> {
    /// Where nothing was put, anything may be.
    values: Vec<u64>,
    places: &'a [u32],
    /// How many values have been added.
    added: usize,
    /// Which of these there are not.
    absent: Vec<Range<usize>>,
}

impl Sorted<'_> {
    fn add_table(&mut self, table: &RawTable, index: usize, rows: Range<usize>) {
        match (index, &table.columns) {
            (0, _) => self.add_all(table.time[rows].iter().map(|time| time.cast_unsigned())),
            (1, _) => self.add(&table.uptime[rows], |&u| u == UPTIME_UNKNOWN, |&u| u.cast_unsigned()),
            (_, Columns::Counts(columns)) => {
                self.add(&columns[index - 3][rows], |&count| count == ABSENT, |&count| count);
            }
            (_, Columns::Numbers(columns)) => {
                self.add(&columns[index - 3][rows], |number| number.is_nan(), |number| number.to_bits());
            }
        }
    }

    fn add<T>(&mut self, values: &[T], is_absent: impl Fn(&T) -> bool, bits: impl Fn(&T) -> u64) {
        match values.iter().filter(|value| is_absent(value)).count() {
            0 => self.add_all(values.iter().map(bits)),
            absent if absent == values.len() => self.add_none(absent),
            _ => values.iter().for_each(|value| self.add_one((!is_absent(value)).then(|| bits(value)))),
        }
    }

    /// Values of a message from row `first` on; `present` says of all its rows whether they have one.
    fn add_message(&mut self, values: &[u8], present: &[u8], first: usize) {
        let (values, _) = values.as_chunks::<8>();
        let bits = |value: &[u8; 8]| u64::from_le_bytes(*value);
        let rows = values.len();
        match present {
            [] => self.add_all(values.iter().map(bits)),
            _ => match UnalignedBitChunk::new(present, first, rows).count_ones() {
                0 => self.add_none(rows),
                all if all == rows => self.add_all(values.iter().map(bits)),
                _ => {
                    let is_present = |row| get_bit(present, first + row);
                    (0..rows).for_each(|row| self.add_one(is_present(row).then(|| bits(&values[row]))));
                }
            },
        }
    }

    fn add_all(&mut self, bits: impl ExactSizeIterator<Item = u64>) {
        let places = &self.places[self.added..][..bits.len()];
        self.added += places.len();
        for (value, &place) in bits.zip(places) {
            self.values[place as usize] = value;
        }
    }

    fn add_none(&mut self, rows: usize) {
        let range = self.added..self.added + rows;
        self.added = range.end;
        match self.absent.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.absent.push(range),
        }
    }

    fn add_one(&mut self, bits: Option<u64>) {
        match bits {
            Some(bits) => self.add_all(std::iter::once(bits)),
            None => self.add_none(1),
        }
    }

    /// The column, of a type of 64 bits.
    pub(crate) fn into_array(self, data_type: &DataType) -> Result<ArrayRef, String> {
        let length = self.values.len();
        if self.absent.iter().map(ExactSizeIterator::len).sum::<usize>() == self.places.len() {
            return Ok(new_null_array(data_type, length));
        }
        let nulls = self.nulls();
        let buffer = Buffer::from_vec(self.values);
        let array: ArrayRef = match data_type {
            DataType::UInt64 => Arc::new(UInt64Array::new(ScalarBuffer::new(buffer, 0, length), nulls)),
            DataType::Int64 => Arc::new(Int64Array::new(ScalarBuffer::new(buffer, 0, length), nulls)),
            DataType::Float64 => Arc::new(Float64Array::new(ScalarBuffer::new(buffer, 0, length), nulls)),
            DataType::Timestamp(_, zone) => {
                let times = TimestampMicrosecondArray::new(ScalarBuffer::new(buffer, 0, length), nulls);
                Arc::new(times.with_timezone_opt(zone.clone()))
            }
            other => return Err(format!("expected a column of 64-bit numbers, found {other}")),
        };
        Ok(array)
    }

    fn nulls(&self) -> Option<NullBuffer> {
        if self.absent.is_empty() {
            return None;
        }
        let mut present = BooleanBufferBuilder::new(self.values.len());
        present.append_n(self.values.len(), true);
        let absent = self.absent.iter().flat_map(|range| &self.places[range.clone()]);
        absent.for_each(|&place| present.set_bit(place as usize, false));
        Some(NullBuffer::new(present.finish()))
    }
}
