//! Parquet files, read through a mapping.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::file::reader::ChunkReader;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, TimeUnit as ArrowUnit};
use bytes::Bytes;
use laggard_core::model::time::Timestamp;
use laggard_core::samples::ABSENT;
use laggard_input::{Place, ReadError};

use super::binding::{Binding, Record};
use super::csv::whole;
use super::mapping::{Mapping, TimeUnit};
use crate::row_buffer::RowBuffer;
use crate::sink::{ROWS_PER_PIECE, Sink};

/// Parquet is read from its end, so a stream is held in memory, up to this size.
const MAX_IN_MEMORY: u64 = 1 << 30;

const ROWS_IN_BATCH: usize = 8192;

/// `name` is the path, for the mapping's path pattern.
pub fn read_file(file: File, name: &str, mapping: &Mapping, sink: &mut dyn Sink) -> Result<(), ReadError> {
    read(file, name, mapping, sink)
}

/// For streams such as a member of an archive.
pub fn read_stream(
    input: &mut dyn BufRead,
    name: &str,
    mapping: &Mapping,
    sink: &mut dyn Sink,
) -> Result<(), ReadError> {
    let mut content = Vec::new();
    let taken = input.take(MAX_IN_MEMORY + 1).read_to_end(&mut content);
    taken.map_err(|error| ReadError::Io { place: Place::Byte(content.len() as u64), error })?;
    if content.len() as u64 > MAX_IN_MEMORY {
        let expected = "at most 1 GiB of Parquet in an archive (unpack it first)";
        return Err(ReadError::content(Place::Whole, expected, "more"));
    }
    read(Bytes::from(content), name, mapping, sink)
}

fn read<C: ChunkReader + 'static>(
    content: C,
    name: &str,
    mapping: &Mapping,
    sink: &mut dyn Sink,
) -> Result<(), ReadError> {
    let mut row_buffer = RowBuffer::new(sink, ROWS_PER_PIECE);
    let mut misfits = 0;
    let read = batches(content, name, mapping, &mut row_buffer, &mut misfits);
    row_buffer.hand_over()?;
    read?;
    if row_buffer.rows() == 0 {
        let expected = "at least one row that matches the mapping";
        return Err(ReadError::content(Place::Whole, expected, "none"));
    }
    if misfits > 0 {
        row_buffer.note(None, format!("rows that do not match the mapping skipped: {misfits}"));
    }
    Ok(())
}

fn batches<C: ChunkReader + 'static>(
    content: C,
    name: &str,
    mapping: &Mapping,
    row_buffer: &mut RowBuffer<'_>,
    misfits: &mut u64,
) -> Result<(), ReadError> {
    let builder = guarded(|| ParquetRecordBatchReaderBuilder::try_new(content))?;
    let columns: Vec<String> = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    let mut binding = Binding::new(mapping, name, &columns)?;
    let wanted = ColumnUses::new(&binding, columns.len());
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.columns());
    let mut reader = guarded(|| builder.with_projection(mask).with_batch_size(ROWS_IN_BATCH).build())?;
    while let Some(batch) = guarded(|| Ok(reader.next().transpose()?))? {
        let batch = wanted.converted(&batch, mapping.time.unit)?;
        for row in 0..batch.length {
            let fits = binding.rows(&Row { batch: &batch, row }, row_buffer).is_some();
            *misfits += u64::from(!fits);
        }
        if row_buffer.settle()? {
            binding.forget_places();
        }
    }
    Ok(())
}

/// Turns a panic of the Parquet library on a damaged file into an error. Rows in progress are dropped.
fn guarded<T>(read: impl FnOnce() -> ::parquet::errors::Result<T>) -> Result<T, ReadError> {
    let broken = |found: String| ReadError::content(Place::Whole, "Parquet", found);
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(read) => read.map_err(|error| broken(error.to_string())),
        Err(_) => Err(broken("a damaged file".into())),
    }
}

/// The use of each column of the file.
struct ColumnUses(Vec<Use>);

#[derive(Clone, Copy, Default)]
struct Use {
    time: bool,
    text: bool,
    number: bool,
    count: bool,
}

impl ColumnUses {
    fn new(binding: &Binding, columns: usize) -> ColumnUses {
        let mut uses = vec![Use::default(); columns];
        uses[binding.time_column()].time = true;
        binding.text_columns().for_each(|column| uses[column].text = true);
        for (column, is_count) in binding.value_columns() {
            uses[column].count |= is_count;
            uses[column].number = true;
        }
        ColumnUses(uses)
    }

    fn columns(&self) -> impl Iterator<Item = usize> {
        let is_wanted = |u: &Use| u.time || u.text || u.number;
        self.0.iter().enumerate().filter(move |(_, u)| is_wanted(u)).map(|(column, _)| column)
    }

    /// The columns of a batch, as times, texts, numbers and counts.
    fn converted(&self, batch: &RecordBatch, unit: TimeUnit) -> Result<Batch, ReadError> {
        let mut columns = vec![Column::default(); self.0.len()];
        for (index, column) in self.columns().enumerate() {
            let array = batch.column(index);
            let name = batch.schema().field(index).name().clone();
            columns[column] =
                self.0[column].converted(array, unit).map_err(|error| misfit(&name, array, &error))?;
        }
        Ok(Batch { columns, length: batch.num_rows(), unit })
    }
}

fn misfit(name: &str, array: &ArrayRef, error: &ArrowError) -> ReadError {
    let found = format!("{} ({error})", array.data_type());
    ReadError::content(Place::Whole, format!("column `{name}` to be a number, a text or a time"), found)
}

impl Use {
    fn converted(self, array: &ArrayRef, unit: TimeUnit) -> Result<Column, ArrowError> {
        let to = |is_wanted: bool, to: &DataType| {
            if is_wanted { arrow_cast::cast(array, to).map(Some) } else { Ok(None) }
        };
        let is_integer = array.data_type().is_integer();
        Ok(Column {
            micros: if self.time { micros(array, unit)? } else { None },
            text: to(self.text || (self.time && unit == TimeUnit::Text), &DataType::Utf8)?,
            number: to(self.number || self.time && unit != TimeUnit::Text, &DataType::Float64).or_else(
                |error| {
                    // A column with a time type need not be convertible to a number.
                    if self.number { Err(error) } else { Ok(None) }
                },
            )?,
            count: to(self.count && is_integer, &DataType::UInt64)?,
        })
    }
}

/// None if the column has neither times nor integers.
fn micros(array: &ArrayRef, unit: TimeUnit) -> Result<Option<ArrayRef>, ArrowError> {
    match array.data_type() {
        DataType::Timestamp(_, zone) => {
            let micros = arrow_cast::cast(array, &DataType::Timestamp(ArrowUnit::Microsecond, zone.clone()))?;
            arrow_cast::cast(&micros, &DataType::Int64).map(Some)
        }
        kind if kind.is_integer() && unit != TimeUnit::Text => {
            let counts = arrow_cast::cast(array, &DataType::Int64)?;
            let instant = |count: i64| unit.instant(count).map(Timestamp::micros);
            let micros = counts.as_primitive::<Int64Type>().unary_opt::<_, Int64Type>(instant);
            Ok(Some(std::sync::Arc::new(micros)))
        }
        _ => Ok(None),
    }
}

struct Batch {
    columns: Vec<Column>,
    length: usize,
    unit: TimeUnit,
}

#[derive(Clone, Default)]
struct Column {
    micros: Option<ArrayRef>,
    text: Option<ArrayRef>,
    number: Option<ArrayRef>,
    count: Option<ArrayRef>,
}

struct Row<'b> {
    batch: &'b Batch,
    row: usize,
}

impl Row<'_> {
    /// None if the value is missing in this row.
    fn value<'a>(&self, array: &'a Option<ArrayRef>) -> Option<&'a ArrayRef> {
        array.as_ref().filter(|array| array.is_valid(self.row))
    }
}

impl Record for Row<'_> {
    fn text(&self, column: usize) -> Option<Cow<'_, str>> {
        let array = self.value(&self.batch.columns[column].text)?;
        Some(Cow::Borrowed(array.as_string::<i32>().value(self.row)))
    }

    fn number(&self, column: usize) -> Option<f64> {
        match self.value(&self.batch.columns[column].number) {
            Some(array) => Some(array.as_primitive::<Float64Type>().value(self.row)),
            None => Some(f64::NAN),
        }
    }

    fn count(&self, column: usize) -> Option<u64> {
        match self.value(&self.batch.columns[column].count) {
            Some(array) => Some(array.as_primitive::<UInt64Type>().value(self.row)),
            None => match self.number(column)? {
                missing if missing.is_nan() => Some(ABSENT),
                number => whole(number),
            },
        }
    }

    fn time(&self, column: usize) -> Option<Timestamp> {
        let column = &self.batch.columns[column];
        if let Some(micros) = self.value(&column.micros) {
            return Some(Timestamp::from_micros(micros.as_primitive::<Int64Type>().value(self.row)));
        }
        if let Some(text) = self.value(&column.text).filter(|_| self.batch.unit == TimeUnit::Text) {
            return text.as_string::<i32>().value(self.row).parse().ok();
        }
        let number = self.value(&column.number)?.as_primitive::<Float64Type>().value(self.row);
        self.batch.unit.instant_of_fraction(number)
    }
}
