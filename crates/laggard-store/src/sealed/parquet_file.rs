//! Writing one Parquet file, row group by row group.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use laggard_core::model::schema::{Form, Schema, Values};
use laggard_core::samples::RawTable;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::error::StoreError;
use crate::format::columns::{COMPONENT, TIME, UPTIME, arrow_schema};
use crate::format::origin::Origin;
use crate::sealed::row_group::SortedRows;

/// Rows of a row group at most. They are held in memory until it is written: 22 MiB of the table `disk`.
const MOST_ROWS_PER_GROUP: usize = 128 * 1024;
/// Values that `DELTA_BINARY_PACKED` encodes together.
const DELTA_BLOCK: usize = 256;
/// A reader of one component decodes whole pages.
const ROWS_PER_PAGE: usize = 32 * 1024;
/// The names of a row group stay in one dictionary, even if every row has its own.
const DICTIONARY_BYTES: usize = 16 << 20;
/// 2048 distinct values of a gauge. With more, differences are smaller than a dictionary.
const GAUGE_DICTIONARY_BYTES: usize = 16 << 10;

/// A Parquet file that is being written.
pub(crate) struct ParquetFile {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    row_groups: ArrowRowGroupWriterFactory,
    fields: arrow_schema::Fields,
    written: usize,
    rows: u64,
}

/// Properties of all rows of a file.
#[derive(Clone, Copy)]
pub(crate) struct Content<'a> {
    pub(crate) table: &'static Schema,
    pub(crate) origin: &'a Origin,
    /// The level of zstd.
    pub(crate) level: i32,
}

/// The number of rows of a row group. If each component has whole blocks of samples, the encoded times of all
/// components are equal bytes, which zstd stores once.
pub(crate) fn rows_per_group(components: usize) -> usize {
    let block = DELTA_BLOCK * components.max(1);
    if block <= MOST_ROWS_PER_GROUP { MOST_ROWS_PER_GROUP / block * block } else { MOST_ROWS_PER_GROUP }
}

impl ParquetFile {
    /// Begins a file; replaces any other at that path.
    pub(crate) fn create(path: &Path, content: Content<'_>) -> Result<Self, StoreError> {
        let failed = |error| cannot_write(path, error);
        let file = File::create(path).map_err(|error| StoreError::io(path, "create it", error))?;
        let fields = arrow_schema(content.table, content.origin).fields().clone();
        // The metadata is among the properties, so that the embedded Arrow schema does not repeat it.
        let schema = arrow_schema::Schema::new(fields.clone()).into();
        let writer = properties(content).and_then(|p| ArrowWriter::try_new(file, schema, Some(p)));
        let (writer, row_groups) = writer.and_then(ArrowWriter::into_serialized_writer).map_err(failed)?;
        Ok(ParquetFile { path: path.into(), writer, row_groups, fields, written: 0, rows: 0 })
    }

    /// Adds a row group, one column after the other.
    pub(crate) fn add(&mut self, rows: &RawTable) -> Result<(), StoreError> {
        let (sorted, fields) = (SortedRows::new(rows), self.fields.clone());
        let chunk = |(position, writer): (usize, _)| encoded(&sorted, &fields[position], position, writer);
        let writers = self.column_writers()?;
        self.write(rows.len(), writers.into_iter().enumerate().map(chunk))
    }

    /// Adds a row group, several columns at a time.
    pub(crate) fn add_in_parallel(&mut self, rows: &RawTable) -> Result<(), StoreError> {
        let Ok(threads) = &*THREADS else { return self.add(rows) };
        let (sorted, fields) = (SortedRows::new(rows), &self.fields);
        let chunk = |(position, writer): (usize, _)| encoded(&sorted, &fields[position], position, writer);
        let writers = self.column_writers()?;
        let chunks: Vec<_> = threads.install(|| writers.into_par_iter().enumerate().map(chunk).collect());
        self.write(rows.len(), chunks.into_iter())
    }

    fn column_writers(&self) -> Result<Vec<ArrowColumnWriter>, StoreError> {
        self.row_groups.create_column_writers(self.written).map_err(|error| cannot_write(&self.path, error))
    }

    fn write(
        &mut self,
        rows: usize,
        mut chunks: impl Iterator<Item = Result<ArrowColumnChunk, ParquetError>>,
    ) -> Result<(), StoreError> {
        let failed = |error| cannot_write(&self.path, error);
        let mut row_group = self.writer.next_row_group().map_err(failed)?;
        chunks.try_for_each(|chunk| chunk?.append_to_row_group(&mut row_group)).map_err(failed)?;
        row_group.close().map_err(failed)?;
        self.written += 1;
        self.rows += rows as u64;
        Ok(())
    }

    /// Ends the file and waits until it will survive a power cut; returns the number of its rows.
    pub(crate) fn finish(self) -> Result<u64, StoreError> {
        let file = self.writer.into_inner().map_err(|error| cannot_write(&self.path, error))?;
        file.sync_all().map_err(|error| StoreError::io(&self.path, "write it to disk", error))?;
        Ok(self.rows)
    }
}

/// A pool of its own: all threads of the common one may be waiting for what is written here.
static THREADS: LazyLock<Result<ThreadPool, ThreadPoolBuildError>> =
    LazyLock::new(|| ThreadPoolBuilder::new().thread_name(|number| format!("packer {number}")).build());

fn encoded(
    rows: &SortedRows<'_>,
    field: &arrow_schema::Field,
    position: usize,
    mut writer: ArrowColumnWriter,
) -> Result<ArrowColumnChunk, ParquetError> {
    for leaf in compute_leaves(field, &rows.column(position)?)? {
        writer.write(&leaf)?;
    }
    writer.close()
}

/// The system's error is inside of the writer's own.
fn cannot_write(path: &Path, error: ParquetError) -> StoreError {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => StoreError::io(path, "write it", *error),
            Err(other) => StoreError::io(path, "write it", std::io::Error::other(other.to_string())),
        },
        other => StoreError::io(path, "write it", std::io::Error::other(other.to_string())),
    }
}

fn properties(content: Content<'_>) -> Result<WriterProperties, ParquetError> {
    let Content { table, origin, level } = content;
    let mut metadata: Vec<KeyValue> =
        origin.metadata(table.name).into_iter().map(|(key, value)| KeyValue::new(key, value)).collect();
    metadata.sort_by(|a, b| a.key.cmp(&b.key));
    let by_component = SortingColumn { column_idx: 2, descending: false, nulls_first: false };
    let packed = match table.values {
        Values::Counts => Encoding::DELTA_BINARY_PACKED,
        Values::Numbers => Encoding::BYTE_STREAM_SPLIT,
    };
    let mut builder = WriterProperties::builder()
        .set_key_value_metadata(Some(metadata))
        .set_sorting_columns(Some(vec![by_component]))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(level)?))
        .set_dictionary_enabled(false)
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_encoding(packed)
        .set_data_page_row_count_limit(ROWS_PER_PAGE)
        .set_write_batch_size(ROWS_PER_PAGE)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_column_encoding(COMPONENT.into(), Encoding::PLAIN)
        .set_column_dictionary_enabled(COMPONENT.into(), true);
    for name in [TIME, UPTIME] {
        builder = builder.set_column_encoding(name.into(), Encoding::DELTA_BINARY_PACKED);
    }
    for name in [TIME, COMPONENT] {
        builder = builder.set_column_statistics_enabled(name.into(), EnabledStatistics::Chunk);
    }
    for gauge in table.columns.iter().filter(|column| column.form == Form::Gauge) {
        builder = builder
            .set_column_dictionary_enabled(gauge.name.into(), true)
            .set_column_dictionary_page_size_limit(gauge.name.into(), GAUGE_DICTIONARY_BYTES);
    }
    Ok(builder.build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_group_has_whole_blocks_of_samples_of_each_component() {
        assert_eq!(rows_per_group(72), 7 * 256 * 72);
        assert_eq!(rows_per_group(0), MOST_ROWS_PER_GROUP);
        assert_eq!(rows_per_group(5000), MOST_ROWS_PER_GROUP);
    }
}
