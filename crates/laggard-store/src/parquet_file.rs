//! Writing one Parquet file: its encodings, its row groups.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use crate::columns::{COMPONENT, TIME, UPTIME};
use crate::error::StoreError;
use crate::group::{Group, Order};

/// Components with fewer rows than this in a row group share pages.
const LEAST_ROWS_PER_PAGE: usize = 256;

/// A Parquet file that is being written.
pub(crate) struct ParquetFile {
    path: PathBuf,
    schema: SchemaRef,
    writer: SerializedFileWriter<File>,
    groups: ArrowRowGroupWriterFactory,
    rows: u64,
}

impl ParquetFile {
    /// Begins a file, in place of any other of that name.
    pub(crate) fn create(path: &Path, schema: SchemaRef) -> Result<Self, StoreError> {
        let file = File::create(path).map_err(|error| StoreError::io(path, "create it", error))?;
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties(&schema)));
        let (writer, groups) = writer
            .and_then(ArrowWriter::into_serialized_writer)
            .map_err(|error| cannot_write(path, error))?;
        Ok(ParquetFile { path: path.into(), schema, writer, groups, rows: 0 })
    }

    /// Adds a row group, a column at a time.
    pub(crate) fn add(&mut self, group: &Group) -> Result<(), StoreError> {
        let path = &self.path;
        let failed = |error| cannot_write(path, error);
        let order = group.order();
        let number = self.writer.flushed_row_groups().len();
        let columns = self.groups.create_column_writers(number).map_err(failed)?;
        let mut row_group = self.writer.next_row_group().map_err(failed)?;
        for ((index, field), mut writer) in self.schema.fields().iter().enumerate().zip(columns) {
            let array = match field.name().as_str() {
                COMPONENT => order.components(),
                _ => group.column(index, field, &order),
            };
            let array = array.map_err(|what| StoreError::broken(path, what))?;
            for page in pages(field.name(), &order) {
                write_page(&mut writer, field, &array.slice(page.start, page.len())).map_err(failed)?;
            }
            drop(array);
            writer.close().and_then(|chunk| chunk.append_to_row_group(&mut row_group)).map_err(failed)?;
        }
        row_group.close().map_err(failed)?;
        self.rows += group.rows() as u64;
        Ok(())
    }

    /// Ends the file and waits until it will survive a power cut; gives the number of its rows.
    pub(crate) fn finish(self) -> Result<u64, StoreError> {
        let file = self.writer.into_inner().map_err(|error| cannot_write(&self.path, error))?;
        file.sync_all().map_err(|error| StoreError::io(&self.path, "write it to disk", error))?;
        Ok(self.rows)
    }
}

/// The rows of each page. Counters get a page for each component: the step from one component's counter to
/// the next one's would cost more than a page does, and a reader of one component reads only its pages. Times
/// are the same for all components, which only shows when they are in one page.
fn pages(column: &str, order: &Order) -> Vec<Range<usize>> {
    match column {
        TIME | UPTIME | COMPONENT => vec![0..order.rows()],
        _ => order.stretches(LEAST_ROWS_PER_PAGE),
    }
}

/// Writes a page: the library ends a page after every call that has brought it over its limit.
fn write_page(writer: &mut ArrowColumnWriter, field: &Field, array: &ArrayRef) -> Result<(), ParquetError> {
    compute_leaves(field, array)?.iter().try_for_each(|leaf| writer.write(leaf))
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
fn properties(schema: &SchemaRef) -> WriterProperties {
    let level = ZstdLevel::try_new(3).expect("zstd has a level 3");
    let mut metadata: Vec<KeyValue> =
        schema.metadata().iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    metadata.sort_by(|a, b| a.key.cmp(&b.key));
    let component = schema.index_of(COMPONENT).map_or(0, |index| index as i32);
    let sorted = SortingColumn { column_idx: component, descending: false, nulls_first: false };
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_data_page_row_count_limit(LEAST_ROWS_PER_PAGE)
        .set_write_batch_size(usize::MAX)
        .set_key_value_metadata(Some(metadata))
        .set_sorting_columns(Some(vec![sorted]))
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
