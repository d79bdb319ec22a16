//! Writing one Parquet file: its encodings, its row groups.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, compute_leaves};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use crate::bits::ColumnReader;
use crate::columns::{COMPONENT, TIME, UPTIME};
use crate::error::StoreError;
use crate::group::{Group, Order};

/// Pages have at least so many rows.
const LEAST_ROWS_PER_PAGE: usize = 256;

/// An index of the pages tells a reader of one component where its pages are. Where pages have fewer rows than
/// this there are so many that the index, which is kept until the file ends, takes more memory than all the rest.
const LEAST_ROWS_PER_INDEXED_PAGE: usize = 1024;

/// A Parquet file that is being written.
pub(crate) struct ParquetFile {
    path: PathBuf,
    schema: SchemaRef,
    writer: SerializedFileWriter<File>,
    /// Whether its pages are indexed: as its first row group would have it, since half an index is none.
    is_indexed: Option<bool>,
    rows: u64,
}

impl ParquetFile {
    /// Begins a file, in place of any other of that name.
    pub(crate) fn create(path: &Path, schema: SchemaRef) -> Result<Self, StoreError> {
        let failed = |error| cannot_write(path, error);
        let file = File::create(path).map_err(|error| StoreError::io(path, "create it", error))?;
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties(&schema, usize::MAX, true)));
        let (writer, _) = writer.and_then(ArrowWriter::into_serialized_writer).map_err(failed)?;
        Ok(ParquetFile { path: path.into(), schema, writer, is_indexed: None, rows: 0 })
    }

    /// Adds a row group, a column at a time.
    pub(crate) fn add(&mut self, reader: &mut ColumnReader<'_>, group: &Group) -> Result<(), StoreError> {
        let order = group.order();
        let packing = self.packing(group, &order);
        let mut row_group = self.writer.next_row_group().map_err(|error| cannot_write(&self.path, error))?;
        for index in 0..self.schema.fields().len() {
            let appended = packing.column(index, reader)?.append_to_row_group(&mut row_group);
            appended.map_err(|error| cannot_write(&self.path, error))?;
        }
        row_group.close().map_err(|error| cannot_write(&self.path, error))?;
        self.rows += group.rows() as u64;
        Ok(())
    }

    /// Adds a row group whose rows are in memory, with all processors there are.
    pub(crate) fn add_in_parallel(&mut self, group: &Group) -> Result<(), StoreError> {
        let order = group.order();
        let packing = self.packing(group, &order);
        let columns = (0..self.schema.fields().len()).into_par_iter();
        let column = |index| packing.column(index, &mut ColumnReader::new(None));
        let chunks = columns.map(column).collect::<Result<Vec<_>, StoreError>>()?;
        let failed = |error| cannot_write(&self.path, error);
        let mut row_group = self.writer.next_row_group().map_err(failed)?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut row_group).map_err(failed)?;
        }
        row_group.close().map_err(failed)?;
        self.rows += group.rows() as u64;
        Ok(())
    }

    fn packing<'a>(&mut self, group: &'a Group, order: &'a Order) -> Packing<'a> {
        let is_indexed = *self.is_indexed.get_or_insert(has_long_runs(order));
        Packing { path: self.path.clone(), schema: self.schema.clone(), group, order, is_indexed }
    }

    /// Ends the file and waits until it will survive a power cut; gives the number of its rows.
    pub(crate) fn finish(self) -> Result<u64, StoreError> {
        let file = self.writer.into_inner().map_err(|error| cannot_write(&self.path, error))?;
        file.sync_all().map_err(|error| StoreError::io(&self.path, "write it to disk", error))?;
        Ok(self.rows)
    }
}

/// A row group that is being packed.
struct Packing<'a> {
    path: PathBuf,
    schema: SchemaRef,
    group: &'a Group,
    order: &'a Order,
    is_indexed: bool,
}

impl Packing<'_> {
    fn column(&self, index: usize, reader: &mut ColumnReader<'_>) -> Result<ArrowColumnChunk, StoreError> {
        let field = &self.schema.fields()[index];
        let array = match field.name().as_str() {
            COMPONENT => self.order.components(),
            _ => self.group.column(reader, index, field, self.order),
        };
        let array = array.map_err(|what| StoreError::broken(&self.path, what))?;
        let chunk = column_chunk(field, &array, &pages(field.name(), self.order), self.is_indexed);
        chunk.map_err(|error| cannot_write(&self.path, error))
    }
}

/// The rows that should be a page each. The step from one component's counter to the next one's would cost
/// more than a page does, and a reader of one component then reads only its pages. Times are the same for all
/// components, which only shows when they are in one page.
fn pages(column: &str, order: &Order) -> Vec<Range<usize>> {
    match column {
        TIME | UPTIME | COMPONENT => std::iter::once(0..order.rows()).collect(),
        _ => order.runs(),
    }
}

fn has_long_runs(order: &Order) -> bool {
    order.rows() / order.runs().len().max(1) >= LEAST_ROWS_PER_INDEXED_PAGE
}

/// Packs a column. The library knows one limit of rows a page for a whole file, and ends a page after the
/// call that fills it; so every column is packed for a file of its own, which nobody gets to see.
fn column_chunk(
    field: &Arc<Field>,
    array: &ArrayRef,
    pages: &[Range<usize>],
    is_indexed: bool,
) -> Result<ArrowColumnChunk, ParquetError> {
    let longest = pages.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    let schema: SchemaRef = Arc::new(Schema::new(vec![field.clone()]));
    let properties = properties(&schema, longest.max(LEAST_ROWS_PER_PAGE), is_indexed);
    let unseen = ArrowWriter::try_new(std::io::sink(), schema, Some(properties))?;
    let mut writers = unseen.into_serialized_writer()?.1.create_column_writers(0)?;
    let mut writer = writers.pop().ok_or_else(|| ParquetError::General("a column has no writer".into()))?;
    for page in pages {
        for leaf in compute_leaves(field, &array.slice(page.start, page.len()))? {
            writer.write(&leaf)?;
        }
    }
    writer.close()
}

/// What the writer said; the system's word is inside of its own.
fn cannot_write(path: &Path, error: ParquetError) -> StoreError {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => StoreError::io(path, "write it", *error),
            Err(other) => StoreError::io(path, "write it", std::io::Error::other(other.to_string())),
        },
        other => StoreError::io(path, "write it", std::io::Error::other(other.to_string())),
    }
}

/// What packs cumulative counters best; measured by the example `density`.
fn properties(schema: &SchemaRef, rows_per_page: usize, is_indexed: bool) -> WriterProperties {
    let level = ZstdLevel::try_new(3).expect("zstd has a level 3");
    let mut metadata: Vec<KeyValue> =
        schema.metadata().iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    metadata.sort_by(|a, b| a.key.cmp(&b.key));
    let sorted = |column_idx| SortingColumn { column_idx, descending: false, nulls_first: false };
    let sorted = schema.index_of(COMPONENT).ok().map(|index| vec![sorted(index as i32)]);
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(!is_indexed)
        .set_data_page_row_count_limit(rows_per_page)
        .set_write_batch_size(usize::MAX)
        .set_key_value_metadata(Some(metadata))
        .set_sorting_columns(sorted)
        .set_column_dictionary_enabled(ColumnPath::from(COMPONENT), true);
    for name in [TIME, COMPONENT] {
        properties =
            properties.set_column_statistics_enabled(ColumnPath::from(name), EnabledStatistics::Chunk);
    }
    for field in schema.fields().iter().filter(|field| field.name() != COMPONENT) {
        let encoding = match field.data_type() {
            DataType::Float64 => Encoding::BYTE_STREAM_SPLIT,
            _ => Encoding::DELTA_BINARY_PACKED,
        };
        properties = properties.set_column_encoding(ColumnPath::from(field.name().as_str()), encoding);
    }
    properties.build()
}
