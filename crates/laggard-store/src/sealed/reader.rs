//! Reading a sealed file: only the row groups, pages and columns that are wanted.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufReader, Read};
use std::ops::{ControlFlow, Range};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_schema::{Field, Schema as ArrowSchema};
use bytes::{Buf, Bytes};
use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowSelection,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::statistics::Statistics;

use crate::error::StoreError;
use crate::format::columns::{COMPONENT, TIME, UPTIME, component_type};
use crate::format::origin::Origin;
use crate::live_tail::frame::guarded;
use crate::location::{Source, Stream};
use crate::reading::filtered;
use crate::reading::piece::{Pieces, VisitPiece};
use crate::reading::selection::WantedRows;

/// Rows of a piece: few enough that its columns stay in the processor's cache.
pub(crate) const ROWS_PER_PIECE: usize = 32 * 1024;

/// A sealed file whose footer has been read.
pub(crate) struct SealedFile<'a> {
    path: &'a Path,
    source: Source,
    metadata: ArrowReaderMetadata,
    origin: Origin,
}

impl<'a> SealedFile<'a> {
    pub(crate) fn open(path: &'a Path, source: Source) -> Result<Self, StoreError> {
        let chunks = Chunks { source: source.clone(), held: Vec::new() };
        let metadata = guarded(AssertUnwindSafe(|| load(&chunks)))
            .map_err(|what| StoreError::broken(path, format!("expected a Parquet file: {what}")))?;
        let origin = Origin::read(&key_values(metadata.metadata()), path)?;
        Ok(SealedFile { path, source, metadata, origin })
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The earliest and latest sample; nothing if a row group lacks statistics.
    pub(crate) fn times(&self) -> Option<(Timestamp, Timestamp)> {
        let groups = self.metadata.metadata().row_groups();
        let times: Vec<(i64, i64)> =
            groups.iter().map(|group| self.times_of(group)).collect::<Option<_>>()?;
        let first = times.iter().map(|t| t.0).min().map(Timestamp::from_micros);
        first.zip(times.iter().map(|t| t.1).max().map(Timestamp::from_micros))
    }

    /// The components that have rows. Reads nothing but their column.
    pub(crate) fn components(&self) -> Result<BTreeSet<Arc<str>>, StoreError> {
        let mut names = BTreeSet::new();
        for number in 0..self.metadata.metadata().num_row_groups() {
            self.rows_of(number, &mut |name| {
                if !names.contains(name) {
                    names.insert(Arc::from(name));
                }
                true
            })?;
        }
        Ok(names)
    }

    /// Hands out the wanted rows in pieces of at most `rows_per_piece`.
    pub(crate) fn scan(
        &self,
        table: &'static Schema,
        wanted: &WantedRows<'_>,
        rows_per_piece: usize,
        visit: &mut VisitPiece<'_>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let names = [TIME, UPTIME, COMPONENT].into_iter().chain(wanted.columns.iter().copied());
        let mask = ProjectionMask::columns(self.metadata.parquet_schema(), names);
        let mut pieces = Pieces::new(table);
        for number in 0..self.metadata.metadata().num_row_groups() {
            let times = self.times_of(self.metadata.metadata().row_group(number));
            if times.is_some_and(|(first, last)| !wanted.touches(first, last)) {
                continue;
            }
            let rows = match wanted.components {
                None => None,
                Some(is_wanted) => match self.rows_of(number, &mut |name| is_wanted(name))? {
                    rows if !rows.selects_any() => continue,
                    rows => Some(rows),
                },
            };
            let needs_filter = !times.is_some_and(|(first, last)| wanted.covers(first, last));
            for batch in self.batches(number, mask.clone(), rows, rows_per_piece)? {
                let batch = batch?;
                let batch = if needs_filter { filtered(batch, wanted) } else { Ok(batch) };
                let piece = batch.and_then(|batch| pieces.piece(&batch)).map_err(|what| self.broken(what))?;
                if !piece.is_empty() && visit(piece).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The earliest and latest sample of a row group, from its statistics.
    fn times_of(&self, group: &RowGroupMetaData) -> Option<(i64, i64)> {
        let column = self.metadata.schema().index_of(TIME).ok()?;
        match group.columns().get(column)?.statistics()? {
            Statistics::Int64(times) => Some((*times.min_opt()?, *times.max_opt()?)),
            _ => None,
        }
    }

    /// The rows of the wanted components: these lie together, so that whole pages are skipped.
    fn rows_of(
        &self,
        number: usize,
        is_wanted: &mut dyn FnMut(&str) -> bool,
    ) -> Result<RowSelection, StoreError> {
        let mask = ProjectionMask::columns(self.metadata.parquet_schema(), [COMPONENT]);
        let (mut ranges, mut rows): (Vec<Range<usize>>, usize) = (Vec::new(), 0);
        for batch in self.batches(number, mask, None, ROWS_PER_PIECE)? {
            let batch = batch?;
            ranges.extend(wanted_runs(&batch, rows, is_wanted));
            rows += batch.num_rows();
        }
        Ok(RowSelection::from_consecutive_ranges(ranges.into_iter(), rows))
    }

    fn batches(
        &self,
        number: usize,
        mask: ProjectionMask,
        rows: Option<RowSelection>,
        rows_per_batch: usize,
    ) -> Result<Batches<'_>, StoreError> {
        let chunks =
            self.fetch(number, &mask).map_err(|error| StoreError::io(self.path, "read it", error))?;
        let build = || {
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, self.metadata.clone())
                .with_row_groups(vec![number])
                .with_projection(mask)
                .with_batch_size(rows_per_batch);
            match rows {
                Some(rows) => builder.with_row_selection(rows).build(),
                None => builder.build(),
            }
        };
        let reader = guarded(AssertUnwindSafe(build)).map_err(|what| self.broken(what))?;
        Ok(Batches { file: self, reader })
    }

    /// Reads the wanted columns of a row group, still compressed, in one request.
    fn fetch(&self, number: usize, mask: &ProjectionMask) -> io::Result<Chunks> {
        let columns = self.metadata.metadata().row_group(number).columns().iter().enumerate();
        let ranges: Vec<Range<u64>> = columns
            .filter(|(leaf, _)| mask.leaf_included(*leaf))
            .map(|(_, column)| {
                byte_range(
                    column.data_page_offset(),
                    column.dictionary_page_offset(),
                    column.compressed_size(),
                )
            })
            .collect();
        let held = self.source.read_all(&ranges)?;
        let held = ranges.iter().map(|range| range.start).zip(held).collect();
        Ok(Chunks { source: self.source.clone(), held })
    }

    fn broken(&self, what: String) -> StoreError {
        StoreError::broken(self.path, what)
    }
}

/// Reads the footer. Columns have the types that Parquet states: the Arrow schema in the file adds nothing but the
/// dictionary of names, and its decoder panics when it is damaged.
fn load(chunks: &Chunks) -> Result<ArrowReaderMetadata, ParquetError> {
    let metadata =
        ArrowReaderMetadata::load(chunks, ArrowReaderOptions::new().with_skip_arrow_metadata(true))?;
    let with_names = metadata.schema().fields().iter().map(|field| match field.name().as_str() {
        COMPONENT => Arc::new(Field::clone(field).with_data_type(component_type())),
        _ => field.clone(),
    });
    let schema = Arc::new(ArrowSchema::new(with_names.collect::<Vec<_>>()));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), ArrowReaderOptions::new().with_schema(schema))
}

fn key_values(metadata: &ParquetMetaData) -> HashMap<String, String> {
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    pairs.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect()
}

/// The place of a column. Unlike the library's own, this does not rely on offsets being non-negative.
fn byte_range(data: i64, dictionary: Option<i64>, length: i64) -> Range<u64> {
    let start = dictionary.filter(|&offset| offset > 0).unwrap_or(data).max(0) as u64;
    start..start.saturating_add(length.max(0) as u64)
}

fn wanted_runs(
    batch: &RecordBatch,
    before: usize,
    is_wanted: &mut dyn FnMut(&str) -> bool,
) -> Vec<Range<usize>> {
    let column = batch.column_by_name(COMPONENT).and_then(|column| column.as_dictionary_opt::<Int32Type>());
    let Some((keys, names)) = column.and_then(|c| Some((c.keys(), c.values().as_string_opt::<i32>()?)))
    else {
        return Vec::new();
    };
    let known: Vec<bool> = names.iter().map(|name| name.is_some_and(&mut *is_wanted)).collect();
    let mut start = before;
    let run = |run: &[i32]| {
        let range = start..start + run.len();
        start = range.end;
        let is_wanted = usize::try_from(run[0]).is_ok_and(|key| known.get(key) == Some(&true));
        is_wanted.then_some(range)
    };
    keys.values().chunk_by(|a, b| a == b).filter_map(run).collect()
}

/// The batches of one row group.
struct Batches<'f> {
    file: &'f SealedFile<'f>,
    reader: ParquetRecordBatchReader,
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = &mut self.reader;
        let batch = guarded(AssertUnwindSafe(|| reader.next().transpose())).transpose()?;
        Some(batch.map_err(|what| self.file.broken(what)))
    }
}

/// Parts of a file, held in memory for the decoder.
struct Chunks {
    source: Source,
    held: Vec<(u64, Bytes)>,
}

impl Chunks {
    /// The bytes from an offset on.
    fn held_from(&self, start: u64) -> Option<Bytes> {
        let (from, bytes) =
            self.held.iter().find(|(from, bytes)| (*from..*from + bytes.len() as u64).contains(&start))?;
        Some(bytes.slice((start - from) as usize..))
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.source.bytes()
    }
}

/// Reads what is held, or else the file.
enum ChunkStream {
    Held(bytes::buf::Reader<Bytes>),
    File(BufReader<Stream>),
}

impl Read for ChunkStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            ChunkStream::Held(bytes) => bytes.read(buffer),
            ChunkStream::File(stream) => stream.read(buffer),
        }
    }
}

impl ChunkReader for Chunks {
    type T = ChunkStream;

    fn get_read(&self, start: u64) -> Result<ChunkStream, ParquetError> {
        Ok(match self.held_from(start) {
            Some(bytes) => ChunkStream::Held(bytes.reader()),
            None => ChunkStream::File(self.source.stream(start)),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match self.held_from(start) {
            Some(bytes) if bytes.len() >= length => Ok(bytes.slice(..length)),
            _ => Ok(self.source.read(start..start.saturating_add(length as u64))?),
        }
    }
}
