//! Writing one Parquet file: its encodings, its row groups.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
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

/// Rows that are written at once: the library makes a list of them that is as large as their values.
const ROWS_AT_ONCE: usize = 8 * 1024;

/// A Parquet file that is being written.
pub(crate) struct ParquetFile {
    path: PathBuf,
    schema: SchemaRef,
    writer: SerializedFileWriter<File>,
    rows: u64,
}

impl ParquetFile {
    /// Begins a file, in place of any other of that name.
    pub(crate) fn create(path: &Path, schema: SchemaRef) -> Result<Self, StoreError> {
        let failed = |error| cannot_write(path, error);
        let file = File::create(path).map_err(|error| StoreError::io(path, "create it", error))?;
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties(&schema, usize::MAX)));
        let (writer, _) = writer.and_then(ArrowWriter::into_serialized_writer).map_err(failed)?;
        Ok(ParquetFile { path: path.into(), schema, writer, rows: 0 })
    }

    /// Adds a row group, a column at a time.
    pub(crate) fn add(&mut self, reader: &mut ColumnReader<'_>, mut group: Group) -> Result<(), StoreError> {
        let order = group.order();
        let packing = self.packing(&group, &order);
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
    pub(crate) fn add_in_parallel(&mut self, mut group: Group) -> Result<(), StoreError> {
        let order = group.order();
        let packing = self.packing(&group, &order);
        let columns = (0..self.schema.fields().len()).into_par_iter();
        let column = |reader: &mut ColumnReader<'_>, index| packing.column(index, reader);
        let chunks = columns.map_init(|| ColumnReader::new(None), column);
        let chunks = chunks.collect::<Result<Vec<_>, StoreError>>()?;
        let failed = |error| cannot_write(&self.path, error);
        let mut row_group = self.writer.next_row_group().map_err(failed)?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut row_group).map_err(failed)?;
        }
        row_group.close().map_err(failed)?;
        self.rows += group.rows() as u64;
        Ok(())
    }

    fn packing<'a>(&self, group: &'a Group, order: &'a Order) -> Packing<'a> {
        Packing { path: self.path.clone(), schema: self.schema.clone(), group, order }
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
}

impl Packing<'_> {
    fn column(&self, index: usize, reader: &mut ColumnReader<'_>) -> Result<ArrowColumnChunk, StoreError> {
        let field = &self.schema.fields()[index];
        let array = match field.name().as_str() {
            COMPONENT => self.order.components(),
            _ => self.group.column(reader, index, field, self.order),
        };
        let array = array.map_err(|what| StoreError::broken(&self.path, what))?;
        let chunk = column_chunk(field, &array, self.order);
        reader.done(array);
        chunk.map_err(|error| cannot_write(&self.path, error))
    }
}

/// How many rows a page should have: those of one component. The step from one component's counter to the next
/// one's would cost more than a page does, and a reader of one component then unpacks only its pages. Times are
/// the same for all components, which only shows when they are in one page.
fn rows_per_page(field: &Field, array: &ArrayRef, order: &Order) -> usize {
    let longest = || order.runs().iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    match field.name().as_str() {
        TIME | UPTIME | COMPONENT => order.rows(),
        _ if array.null_count() == array.len() => order.rows(),
        _ => longest(),
    }
}

/// Packs a column. The library knows one limit of rows a page for a whole file, and ends a page after the
/// call that fills it; so every column is packed for a file of its own, which nobody gets to see.
fn column_chunk(
    field: &Arc<Field>,
    array: &ArrayRef,
    order: &Order,
) -> Result<ArrowColumnChunk, ParquetError> {
    let schema: SchemaRef = Arc::new(Schema::new(vec![field.clone()]));
    let rows_per_page = rows_per_page(field, array, order).max(LEAST_ROWS_PER_PAGE);
    let properties = properties(&schema, rows_per_page);
    let unseen = ArrowWriter::try_new(std::io::sink(), schema, Some(properties))?;
    let mut writers = unseen.into_serialized_writer()?.1.create_column_writers(0)?;
    let mut writer = writers.pop().ok_or_else(|| ParquetError::General("a column has no writer".into()))?;
    for run in order.runs() {
        for start in run.clone().step_by(ROWS_AT_ONCE) {
            let rows = ROWS_AT_ONCE.min(run.end - start);
            for leaf in compute_leaves(field, &array.slice(start, rows))? {
                writer.write(&leaf)?;
            }
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
fn properties(schema: &SchemaRef, rows_per_page: usize) -> WriterProperties {
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
        // There are many pages, and their index would be in memory until the file ends: more than all the rest.
        // A reader that looks for one component's pages has their headers.
        .set_offset_index_disabled(true)
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
