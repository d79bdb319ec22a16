//! Reading a sealed file: only the row groups, pages and columns that are wanted.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufReader, Read};
use std::ops::{ControlFlow, Range};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_schema::{Field, Schema};
use bytes::{Buf, Bytes};
use laggard_core::model::time::Timestamp;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowSelection,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::statistics::Statistics;

use crate::dataset::segment::{Segment, Visit};
use crate::error::StoreError;
use crate::format::columns::{COMPONENT, TIME, UPTIME, component_type};
use crate::format::origin::Origin;
use crate::live_tail::frame::guarded;
use crate::location::{Source, Stream};
use crate::reading::live_tail::filtered;
use crate::reading::piece::Pieces;
use crate::reading::restored::{needed, restored};
use crate::reading::selection::WantedRows;

/// How many rows are decoded at once: few enough that the columns of a piece stay in the processor's cache.
const ROWS_AT_ONCE: usize = 32 * 1024;

pub(crate) fn origin(segment: &Segment, source: Source) -> Result<Origin, StoreError> {
    Ok(SealedFile::open(segment, source, false)?.origin)
}

/// The earliest and latest sample, if the statistics tell.
pub(crate) fn times(segment: &Segment, source: Source) -> Result<Option<(Timestamp, Timestamp)>, StoreError> {
    let file = SealedFile::open(segment, source, false)?;
    let groups = file.metadata.metadata().row_groups();
    let times: Option<Vec<(i64, i64)>> = groups.iter().map(|group| file.times(group)).collect();
    let times = times.unwrap_or_default();
    let first = times.iter().map(|t| t.0).min().map(Timestamp::from_micros);
    let last = times.iter().map(|t| t.1).max().map(Timestamp::from_micros);
    Ok(first.zip(last))
}

/// The components that have rows. Reads nothing but their column.
pub(crate) fn components(segment: &Segment, source: Source) -> Result<BTreeSet<Arc<str>>, StoreError> {
    let file = SealedFile::open(segment, source, false)?;
    let mut names = BTreeSet::new();
    for number in 0..file.metadata.metadata().num_row_groups() {
        file.rows_of(number, &mut |name| {
            if !names.contains(name) {
                names.insert(Arc::from(name));
            }
            true
        })?;
    }
    Ok(names)
}

pub(crate) fn scan(
    segment: &Segment,
    source: Source,
    wanted: &WantedRows<'_>,
    visit: &mut Visit<'_>,
) -> Result<ControlFlow<()>, StoreError> {
    let file = SealedFile::open(segment, source, wanted.components.is_some())?;
    let mask = file.mask(wanted);
    let mut pieces = Pieces::new(segment.table);
    for number in 0..file.metadata.metadata().num_row_groups() {
        let Some(group) = file.group(number, wanted, &mask)? else { continue };
        for batch in group {
            let piece = pieces.piece(&batch?).map_err(|what| StoreError::broken(segment.path(), what))?;
            if !piece.is_empty() && visit(segment, piece).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

struct SealedFile<'a> {
    segment: &'a Segment,
    source: Source,
    metadata: ArrowReaderMetadata,
    origin: Origin,
}

impl<'a> SealedFile<'a> {
    fn open(segment: &'a Segment, source: Source, with_pages: bool) -> Result<Self, StoreError> {
        let path = segment.path();
        let policy = if with_pages { PageIndexPolicy::Optional } else { PageIndexPolicy::Skip };
        let chunks = Chunks::new(source.clone());
        let metadata = guarded(AssertUnwindSafe(|| load(&chunks, policy)))
            .map_err(|what| StoreError::broken(&path, format!("expected a Parquet file: {what}")))?;
        let origin = Origin::read(&key_values(metadata.metadata()), &path)?;
        Ok(SealedFile { segment, source, metadata, origin })
    }

    /// Which columns to decode.
    fn mask(&self, wanted: &WantedRows<'_>) -> ProjectionMask {
        let needed = needed(self.metadata.schema(), names(wanted));
        ProjectionMask::columns(self.metadata.parquet_schema(), needed)
    }

    /// The wanted batches of a row group; nothing if there are none.
    fn group<'f>(
        &'f self,
        number: usize,
        wanted: &'f WantedRows<'f>,
        mask: &ProjectionMask,
    ) -> Result<Option<Recorded<'f>>, StoreError> {
        let group = self.metadata.metadata().row_group(number);
        let times = self.times(group);
        if times.is_some_and(|(first, last)| !wanted.touches(first, last)) {
            return Ok(None);
        }
        let rows = match wanted.components {
            None => None,
            Some(is_wanted) => match self.rows_of(number, &mut |name| is_wanted(name))? {
                selection if !selection.selects_any() => return Ok(None),
                selection => Some(selection),
            },
        };
        let needs_filter = !times.is_some_and(|(first, last)| wanted.covers(first, last));
        let reader = self.reader(number, mask.clone(), rows)?;
        Ok(Some(Recorded { batches: Batches { file: self, reader }, wanted, needs_filter }))
    }

    /// The earliest and latest sample of a row group, as its statistics say.
    fn times(&self, group: &RowGroupMetaData) -> Option<(i64, i64)> {
        let column = self.metadata.schema().index_of(TIME).ok()?;
        match group.columns().get(column)?.statistics()? {
            Statistics::Int64(times) => Some((*times.min_opt()?, *times.max_opt()?)),
            _ => None,
        }
    }

    /// The rows of the wanted components: these lie together, so that whole pages can be passed over.
    fn rows_of(
        &self,
        number: usize,
        is_wanted: &mut dyn FnMut(&str) -> bool,
    ) -> Result<RowSelection, StoreError> {
        let mask = ProjectionMask::columns(self.metadata.parquet_schema(), [COMPONENT]);
        let mut batches = Batches { file: self, reader: self.reader(number, mask, None)? };
        let (mut ranges, mut rows): (Vec<Range<usize>>, usize) = (Vec::new(), 0);
        batches.try_for_each(|batch| {
            let batch = batch?;
            ranges.extend(wanted_runs(&batch, rows, is_wanted));
            rows += batch.num_rows();
            Ok(())
        })?;
        Ok(RowSelection::from_consecutive_ranges(ranges.into_iter(), rows))
    }

    fn reader(
        &self,
        number: usize,
        mask: ProjectionMask,
        rows: Option<RowSelection>,
    ) -> Result<ParquetRecordBatchReader, StoreError> {
        let chunks = self
            .fetch(number, &mask)
            .map_err(|error| StoreError::io(self.segment.path(), "read it", error))?;
        let build = || {
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, self.metadata.clone())
                .with_row_groups(vec![number])
                .with_projection(mask)
                .with_batch_size(ROWS_AT_ONCE);
            match rows {
                Some(rows) => builder.with_row_selection(rows).build(),
                None => builder.build(),
            }
        };
        guarded(AssertUnwindSafe(build)).map_err(|what| self.broken(what))
    }

    /// Reads the wanted columns of a row group, compressed as they are, in one go.
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
        StoreError::broken(self.segment.path(), what)
    }
}

/// Reads what a file says of its columns. They are told by their Parquet types: the Arrow schema that is in the
/// file too says nothing more, and its decoder panics when it is damaged.
fn load(chunks: &Chunks, policy: PageIndexPolicy) -> Result<ArrowReaderMetadata, ParquetError> {
    let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true).with_page_index_policy(policy);
    let metadata = ArrowReaderMetadata::load(chunks, plain)?;
    let with_names = metadata.schema().fields().iter().map(|field| match field.name().as_str() {
        COMPONENT => Arc::new(Field::clone(field).with_data_type(component_type())),
        _ => field.clone(),
    });
    let schema = Arc::new(Schema::new(with_names.collect::<Vec<_>>()));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), ArrowReaderOptions::new().with_schema(schema))
}

/// The columns that a scan hands out.
fn names<'w>(wanted: &'w WantedRows<'_>) -> impl Iterator<Item = &'static str> + use<'w> {
    [TIME, UPTIME, COMPONENT].into_iter().chain(wanted.columns.iter().copied())
}

fn key_values(metadata: &ParquetMetaData) -> HashMap<String, String> {
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    pairs.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?))).collect()
}

/// Where a column lies. Unlike the library's own, this does not take the file's word for non-negative.
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

/// The batches of one row group, as they are in the file.
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

/// The wanted rows and columns of one row group, as they were recorded.
struct Recorded<'f> {
    batches: Batches<'f>,
    wanted: &'f WantedRows<'f>,
    needs_filter: bool,
}

impl Iterator for Recorded<'_> {
    type Item = Result<RecordBatch, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next()?;
        let recorded = |batch: RecordBatch| {
            let batch = restored(&batch, names(self.wanted))?;
            if self.needs_filter { filtered(batch, self.wanted) } else { Ok(batch) }
        };
        Some(batch.and_then(|batch| recorded(batch).map_err(|what| self.batches.file.broken(what))))
    }
}

/// Parts of a file, held in memory for the decoder.
struct Chunks {
    source: Source,
    held: Vec<(u64, Bytes)>,
}

impl Chunks {
    fn new(source: Source) -> Self {
        Chunks { source, held: Vec::new() }
    }

    /// What is held from an offset on.
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
