//! One column of some rows, as 64 bits a value, wherever the rows are: in a tail, or still in memory.
//! In: messages that were found to be sound, or raw tables. Out: sorted columns. Always: no more of a message
//! is read than the column, and what reading needs is kept for the next one.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use laggard_core::samples::RawTable;
use zstd::bulk::Decompressor;

use crate::live_tail::frame::{Place, Stretch};
use crate::sealed::cells::Cells;
use crate::sealed::sorted::{Column, Numbers, Sorted};
use crate::sealed::sums::Sums;

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
    /// The same of sums.
    sums: Vec<u64>,
}

impl<'a> ColumnReader<'a> {
    /// A reader of rows in memory, or in this tail.
    pub(crate) fn new(tail: Option<&'a File>) -> Self {
        let unpacker = Unpacker { decompressor: None, packed: Vec::new() };
        ColumnReader {
            tail,
            unpacker,
            present: Vec::new(),
            values: Vec::new(),
            column: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// A column of so many places; `next` is where the first value of each component goes.
    pub(crate) fn column(&mut self, places: usize, next: Vec<u32>) -> Sorted {
        Sorted::new(std::mem::take(&mut self.column), places, next)
    }

    /// Takes back the memory of a column.
    pub(crate) fn done(&mut self, column: Column) {
        self.column = column.values;
    }

    /// Adds one column of some rows to what is being sorted.
    pub(crate) fn read(
        &mut self,
        source: &Source,
        cells: &Cells,
        rows: Range<usize>,
        numbers: &Numbers,
        column: &mut Sorted,
    ) -> io::Result<()> {
        let Some((stand_in, parts)) = &cells.stand_in else {
            return self.put(source, cells.index, rows, numbers, column, |_, value| value);
        };
        let mut sums = Sums::new(stand_in, rows.len(), std::mem::take(&mut self.sums));
        parts.iter().try_for_each(|&part| self.add_up(source, part, rows.clone(), &mut sums))?;
        self.put(source, cells.index, rows, numbers, column, |row, value| sums.written(row, value))?;
        self.sums = sums.into_memory();
        Ok(())
    }

    fn put(
        &mut self,
        source: &Source,
        index: usize,
        rows: Range<usize>,
        numbers: &Numbers,
        column: &mut Sorted,
        written: impl Fn(usize, u64) -> u64,
    ) -> io::Result<()> {
        match source {
            Source::Memory(table) => column.add_table(table, index, rows, numbers, written),
            Source::Tail(place) => {
                let (values, present) = self.unpack(place, index, &rows)?;
                column.add_message(values, present, rows.start, numbers, written);
            }
        }
        Ok(())
    }

    fn add_up(
        &mut self,
        source: &Source,
        index: usize,
        rows: Range<usize>,
        sums: &mut Sums,
    ) -> io::Result<()> {
        match source {
            Source::Memory(table) => sums.add_table(table, index, rows),
            Source::Tail(place) => {
                let (values, present) = self.unpack(place, index, &rows)?;
                sums.add_message(values, present, rows.start);
            }
        }
        Ok(())
    }

    /// The values of some rows of a message; and of all its rows, whether they have one.
    fn unpack(&mut self, place: &Place, index: usize, rows: &Range<usize>) -> io::Result<(&[u8], &[u8])> {
        let tail = self.tail.ok_or_else(|| io::Error::other("expected the tail of a message, found none"))?;
        let (present, values) = place.buffers(index).ok_or_else(unsound)?;
        self.unpacker.unpack(tail, place.is_packed(), present, &mut self.present)?;
        self.unpacker.unpack(tail, place.is_packed(), values, &mut self.values)?;
        let is_whole = self.present.is_empty() || self.present.len() >= place.rows().div_ceil(8);
        let values = self.values.get(rows.start * 8..rows.end * 8);
        values.filter(|_| is_whole).map(|values| (values, &*self.present)).ok_or_else(unsound)
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
