//! Writing one Parquet file, row group by row group.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescPtr;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::error::StoreError;
use crate::format::columns::{COMPONENT, TIME, UPTIME};
use crate::sealed::bench::{Bench, Benches};
use crate::sealed::cells::{self, Cells};
use crate::sealed::chunk::{self, Chunk, Kind};
use crate::sealed::group::{Group, Order};

/// A Parquet file that is being written.
pub(crate) struct ParquetFile {
    path: PathBuf,
    /// That of the rows.
    schema: SchemaRef,
    columns: Arc<[Cells]>,
    writer: SerializedFileWriter<File>,
    rows: u64,
}

impl ParquetFile {
    /// Begins a file of rows of that schema, in place of any other of that name.
    pub(crate) fn create(path: &Path, schema: SchemaRef) -> Result<Self, StoreError> {
        let failed = |error| cannot_write(path, error);
        let file = File::create(path).map_err(|error| StoreError::io(path, "create it", error))?;
        let sealed = cells::schema(&schema);
        let properties = properties(&sealed);
        // What the file says of itself is in the properties; once is enough.
        let fields = Arc::new(Schema::new(sealed.fields().clone()));
        let writer = ArrowWriter::try_new(file, fields, Some(properties));
        let (writer, _) = writer.and_then(ArrowWriter::into_serialized_writer).map_err(failed)?;
        Ok(ParquetFile { path: path.into(), columns: cells::all(&schema).into(), schema, writer, rows: 0 })
    }

    /// Adds a row group, a column at a time.
    pub(crate) fn add(&mut self, group: &Group, bench: &mut Bench<'_>) -> Result<(), StoreError> {
        let (schema, columns) = (self.schema.clone(), self.columns.clone());
        let order = group.order();
        let packing = Packing { schema: &schema, group, order: &order };
        self.write(group, columns.iter().map(|cells| packing.column(cells, bench)))
    }

    /// Adds a row group whose rows are in memory, with all processors there are.
    pub(crate) fn add_in_parallel(&mut self, group: &Group, benches: &Benches) -> Result<(), StoreError> {
        let order = group.order();
        let packing = Packing { schema: &self.schema, group, order: &order };
        let column = |cells| benches.with_one(|bench| packing.column(cells, bench));
        let chunks: Vec<_> = match &*PACKERS {
            Ok(packers) => packers.install(|| self.columns.par_iter().map(column).collect()),
            Err(_) => self.columns.iter().map(column).collect(),
        };
        self.write(group, chunks.into_iter())
    }

    fn write(
        &mut self,
        group: &Group,
        chunks: impl Iterator<Item = std::io::Result<Chunk>>,
    ) -> Result<(), StoreError> {
        let failed = |error| cannot_write(&self.path, error);
        let descriptors: Vec<ColumnDescPtr> = self.writer.schema_descr().columns().to_vec();
        let mut row_group = self.writer.next_row_group().map_err(failed)?;
        for (chunk, descriptor) in chunks.zip(descriptors) {
            let chunk = chunk.map_err(|error| StoreError::io(&self.path, "pack rows for it", error))?;
            chunk.append_to(&mut row_group, descriptor).map_err(failed)?;
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

/// A pool of its own: those of the common one may all be waiting for what is packed here.
static PACKERS: LazyLock<Result<ThreadPool, ThreadPoolBuildError>> =
    LazyLock::new(|| ThreadPoolBuilder::new().thread_name(|number| format!("packer {number}")).build());

/// A row group that is being packed.
struct Packing<'a> {
    schema: &'a SchemaRef,
    group: &'a Group,
    order: &'a Order,
}

impl Packing<'_> {
    fn column(&self, cells: &Cells, bench: &mut Bench<'_>) -> std::io::Result<Chunk> {
        let field = &self.schema.fields()[cells.index];
        let runs = self.order.runs();
        let kind = match (field.name().as_str(), field.data_type()) {
            (COMPONENT, _) => return chunk::components(self.order.names(), runs, &mut bench.press),
            (TIME, _) => Kind::Times { may_lack: false },
            (UPTIME, _) => Kind::Times { may_lack: true },
            (_, DataType::Float64) => Kind::Numbers,
            _ => Kind::Counts,
        };
        let column = self.group.column(&mut bench.reader, cells, self.order)?;
        let chunk = chunk::column(&column, runs, kind, &mut bench.press);
        bench.reader.done(column);
        chunk
    }
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

/// What the file says of itself. How its columns are packed is up to [`chunk`].
fn properties(schema: &SchemaRef) -> WriterProperties {
    let mut metadata: Vec<KeyValue> =
        schema.metadata().iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    metadata.sort_by(|a, b| a.key.cmp(&b.key));
    let sorted = |column_idx| SortingColumn { column_idx, descending: false, nulls_first: false };
    let sorted = schema.index_of(COMPONENT).ok().map(|index| vec![sorted(index as i32)]);
    WriterProperties::builder().set_key_value_metadata(Some(metadata)).set_sorting_columns(sorted).build()
}
