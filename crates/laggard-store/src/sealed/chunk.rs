//! One column of a row group, in pages.
//! In: a sorted column. Out: [`Chunk`], as it will be in the file. Always: a page has whole components, and as
//! few of them as pay.

use std::io;
use std::ops::Range;

use arrow_array::{Array, StringArray};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnDescPtr;

use crate::sealed::content::{levels, split, values};
use crate::sealed::delta;
use crate::sealed::numbered::Numbered;
use crate::sealed::page::{PagePress, Pages, Written, run};
use crate::sealed::sorted::Column;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Times: the same for all components, which only shows when they are in one page.
    Times {
        /// Whether some may be absent.
        may_lack: bool,
    },
    /// Counters. The step from one component's to the next one's would cost more than a page does, and a
    /// reader of one component unpacks only its pages.
    Counts,
    /// Floating-point numbers.
    Numbers,
}

impl Kind {
    fn written(self) -> Written {
        if self == Kind::Numbers { Written::Split } else { Written::Delta }
    }
}

/// A column that is packed.
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    unpressed: usize,
    rows: usize,
    names_bytes: Option<usize>,
    written: Written,
    statistics: Option<Statistics>,
}

/// Components that share a page at most, unless nothing of them changes.
const MOST_TOGETHER: usize = 16;
/// Pages of fewer bytes than this may be smaller together than apart.
const SMALL_PAGE: usize = 400;

/// Packs a column, whose components have these places.
pub(crate) fn column(
    column: &Column,
    runs: &[Range<usize>],
    kind: Kind,
    press: &mut PagePress,
) -> io::Result<Chunk> {
    let is_one = matches!(kind, Kind::Times { .. }) || column.is_absent;
    let layout = if is_one { vec![runs] } else { apart(column, runs) };
    let numbers = if kind == Kind::Counts { Numbered::of(values(column, runs)) } else { None };
    let mut packed = |layout: &[_]| smallest(column, kind, numbers.as_ref(), layout, press);
    let mut chunk = packed(&layout)?;
    if layout.len() > 1 && chunk.bytes.len() / layout.len() < SMALL_PAGE {
        let layout: Vec<_> = runs.chunks(MOST_TOGETHER).collect();
        chunk = chunk.or(packed(&layout)?);
    }
    chunk.statistics = matches!(kind, Kind::Times { may_lack: false }).then(|| extent(column, runs));
    Ok(chunk)
}

/// A page for each component, but one for neighbours of which nothing changes.
fn apart<'r>(column: &Column, mut runs: &'r [Range<usize>]) -> Vec<&'r [Range<usize>]> {
    let mut pages = Vec::new();
    while !runs.is_empty() {
        let constant = runs.iter().take_while(|run| is_constant(column, run)).count();
        let (page, rest) = runs.split_at(constant.max(1));
        pages.push(page);
        runs = rest;
    }
    pages
}

fn is_constant(column: &Column, run: &Range<usize>) -> bool {
    let values = &column.values[run.clone()];
    let is_whole = || column.present.as_ref().is_none_or(|present| !present[run.clone()].contains(&false));
    values.iter().all(|value| *value == values[0]) && is_whole()
}

fn smallest(
    column: &Column,
    kind: Kind,
    numbers: Option<&Numbered>,
    layout: &[&[Range<usize>]],
    press: &mut PagePress,
) -> io::Result<Chunk> {
    let chunk = packed(column, kind, layout, press)?;
    match numbers {
        Some(numbers) => Ok(chunk.or(numbered(column, numbers, layout, press)?)),
        None => Ok(chunk),
    }
}

fn packed(
    column: &Column,
    kind: Kind,
    layout: &[&[Range<usize>]],
    press: &mut PagePress,
) -> io::Result<Chunk> {
    let mut pages = Pages::new(press);
    for runs in layout {
        pages.data(rows_of(runs), kind.written(), |out| {
            if kind != (Kind::Times { may_lack: false }) {
                levels(column, runs, rows_of(runs), out);
            }
            match kind {
                Kind::Numbers => split(values(column, runs), out),
                _ => delta::encode(values(column, runs), out),
            }
        })?;
    }
    let rows = layout.iter().map(|runs| rows_of(runs)).sum();
    let Pages { bytes, unpressed, .. } = pages;
    Ok(Chunk { bytes, unpressed, rows, names_bytes: None, written: kind.written(), statistics: None })
}

fn numbered(
    column: &Column,
    numbers: &Numbered,
    layout: &[&[Range<usize>]],
    press: &mut PagePress,
) -> io::Result<Chunk> {
    let mut pages = Pages::new(press);
    pages.names(numbers.count(), |out| numbers.table(out))?;
    let names_bytes = Some(pages.bytes.len());
    for runs in layout {
        pages.data(rows_of(runs), Written::Names, |out| {
            levels(column, runs, rows_of(runs), out);
            numbers.encode(values(column, runs), out);
        })?;
    }
    let rows = layout.iter().map(|runs| rows_of(runs)).sum();
    let Pages { bytes, unpressed, .. } = pages;
    Ok(Chunk { bytes, unpressed, rows, names_bytes, written: Written::Names, statistics: None })
}

fn rows_of(runs: &[Range<usize>]) -> usize {
    runs.iter().map(ExactSizeIterator::len).sum()
}

/// Packs the column of component names.
pub(crate) fn components(
    names: &StringArray,
    runs: &[Range<usize>],
    press: &mut PagePress,
) -> io::Result<Chunk> {
    let rows = rows_of(runs);
    let mut pages = Pages::new(press);
    pages.names(names.len(), |out| {
        for name in names.iter().flatten() {
            out.extend((name.len() as u32).to_le_bytes());
            out.extend_from_slice(name.as_bytes());
        }
    })?;
    let names_bytes = Some(pages.bytes.len());
    let width = (usize::BITS - names.len().saturating_sub(1).leading_zeros()).max(1);
    pages.data(rows, Written::Names, |out| {
        out.push(width as u8);
        for (number, run_of) in (0..).zip(runs) {
            run(run_of.len(), number, width.div_ceil(8) as usize, out);
        }
    })?;
    let name = |at: usize| (at < names.len()).then(|| ByteArray::from(names.value(at)));
    let (least, most) = (name(0), name(names.len().wrapping_sub(1)));
    let statistics = Some(Statistics::byte_array(least, most, None, Some(0), false));
    let Pages { bytes, unpressed, .. } = pages;
    Ok(Chunk { bytes, unpressed, rows, names_bytes, written: Written::Names, statistics })
}

fn extent(column: &Column, runs: &[Range<usize>]) -> Statistics {
    let values = || runs.iter().flat_map(|run| &column.values[run.clone()]).map(|time| time.cast_signed());
    Statistics::int64(values().min(), values().max(), None, Some(0), false)
}

impl Chunk {
    /// The smaller of two.
    fn or(self, other: Chunk) -> Chunk {
        if other.bytes.len() < self.bytes.len() { other } else { self }
    }

    /// Writes it as the next column of a row group.
    pub(crate) fn append_to(
        self,
        row_group: &mut SerializedRowGroupWriter<'_, std::fs::File>,
        descriptor: ColumnDescPtr,
    ) -> Result<(), ParquetError> {
        let mut metadata = ColumnChunkMetaData::builder(descriptor)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_encodings(self.encodings())
            .set_num_values(self.rows as i64)
            .set_total_compressed_size(self.bytes.len() as i64)
            .set_total_uncompressed_size(self.unpressed as i64)
            .set_data_page_offset(self.names_bytes.unwrap_or(0) as i64)
            .set_dictionary_page_offset(self.names_bytes.map(|_| 0));
        if let Some(statistics) = self.statistics {
            metadata = metadata.set_statistics(statistics);
        }
        let close = ColumnCloseResult {
            bytes_written: self.bytes.len() as u64,
            rows_written: self.rows as u64,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        row_group.append_column(&Bytes::from(self.bytes), close)
    }

    fn encodings(&self) -> Vec<Encoding> {
        match self.written {
            Written::Names | Written::Plain => vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY],
            Written::Delta => vec![Encoding::RLE, Encoding::DELTA_BINARY_PACKED],
            Written::Split => vec![Encoding::RLE, Encoding::BYTE_STREAM_SPLIT],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64], present: Option<&[bool]>) -> Column {
        Column { values: values.to_vec(), present: present.map(<[bool]>::to_vec), is_absent: false }
    }

    #[test]
    fn neighbours_of_which_nothing_changes_share_a_page() {
        let column = of(&[5, 5, 7, 7, 1, 2, 7, 7], None);
        let runs = [0..2, 2..4, 4..6, 6..8];
        let components: Vec<usize> = apart(&column, &runs).iter().map(|page| page.len()).collect();
        assert_eq!(components, [2, 1, 1]);
    }

    #[test]
    fn a_component_that_lacks_a_value_has_a_page_of_its_own() {
        let column = of(&[5, 5, 5, 5], Some(&[true, true, true, false]));
        assert_eq!(apart(&column, &[0..2, 2..4]).len(), 2);
    }

    #[test]
    fn quiet_components_are_smaller_together() {
        let quiet: Vec<u64> = (0..64 * 100).map(|row| 1000 + row / 40).collect();
        let runs: Vec<_> = (0..64).map(|number| number * 100..(number + 1) * 100).collect();
        let (column, mut press) = (of(&quiet, None), PagePress::new(3));
        let apart = packed(&column, Kind::Counts, &apart(&column, &runs), &mut press).unwrap();
        let chosen = super::column(&column, &runs, Kind::Counts, &mut press).unwrap();
        assert!(chosen.bytes.len() < apart.bytes.len() / 2);
        assert_eq!(chosen.rows, apart.rows);
    }
}
