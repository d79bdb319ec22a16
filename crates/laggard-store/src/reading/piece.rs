//! A piece: some of one segment's rows, with the selected columns.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_schema::DataType;
use laggard_core::model::schema::Schema;
use laggard_core::samples::{ABSENT, Columns, RawTable, UPTIME_UNKNOWN};

use crate::format::columns::{COMPONENT, TIME, UPTIME};

/// Some rows of one host and table. A component's rows are in the order of recording.
#[derive(Clone, Debug)]
pub struct Piece {
    schema: &'static Schema,
    names: Arc<[Arc<str>]>,
    time: ScalarBuffer<i64>,
    uptime: Option<ScalarBuffer<i64>>,
    component: ScalarBuffer<u32>,
    columns: Vec<Option<Column>>,
}

#[derive(Clone, Debug)]
enum Column {
    Counts(ScalarBuffer<u64>),
    Numbers(ScalarBuffer<f64>),
}

impl Piece {
    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    pub fn len(&self) -> usize {
        self.time.len()
    }

    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    /// The time of each sample: microseconds, UTC.
    pub fn time(&self) -> &[i64] {
        &self.time
    }

    /// Microseconds since boot, or [`UPTIME_UNKNOWN`]. Nothing if it is unknown for all rows.
    pub fn uptime(&self) -> Option<&[i64]> {
        self.uptime.as_deref()
    }

    /// The component of each row: an index into [`Piece::names`].
    pub fn component(&self) -> &[u32] {
        &self.component
    }

    /// The names of components; some may have no row.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The counts of a column ([`ABSENT`] where there is none). Nothing if the column was not asked for, or
    /// the file does not have it, or the table holds no counts.
    pub fn counts(&self, column: usize) -> Option<&[u64]> {
        match self.columns.get(column)?.as_ref()? {
            Column::Counts(values) => Some(values),
            Column::Numbers(_) => None,
        }
    }

    /// The numbers of a column (NaN where there is none). Nothing if the column was not asked for, or the
    /// file does not have it, or the table holds counts.
    pub fn numbers(&self, column: usize) -> Option<&[f64]> {
        match self.columns.get(column)?.as_ref()? {
            Column::Numbers(values) => Some(values),
            Column::Counts(_) => None,
        }
    }

    /// The runs of rows of one component: its number and the range of rows. A sealed file has few long runs, a
    /// live tail as many as it has rows.
    pub fn runs(&self) -> impl Iterator<Item = (u32, Range<usize>)> + '_ {
        let mut start = 0;
        self.component.chunk_by(|a, b| a == b).map(move |run| {
            let range = start..start + run.len();
            start = range.end;
            (run[0], range)
        })
    }

    /// The same rows as a table of their own; columns that were not asked for are absent.
    pub fn to_table(&self) -> RawTable {
        let mut table = RawTable::new(self.schema);
        self.append_to(0..self.len(), &mut table);
        table
    }

    /// Adds some rows to a table of the same schema; columns that were not asked for are absent.
    pub(crate) fn append_to(&self, range: Range<usize>, table: &mut RawTable) {
        // Names that no row uses get no number.
        let mut numbers = vec![None; self.names.len()];
        for &name in &self.component[range.clone()] {
            let name = name as usize;
            let number = *numbers[name].get_or_insert_with(|| table.number(&self.names[name]));
            table.component.push(number);
        }
        table.time.extend_from_slice(&self.time[range.clone()]);
        let rows = table.time.len();
        extend(&mut table.uptime, self.uptime(), &range, UPTIME_UNKNOWN, rows);
        match &mut table.columns {
            Columns::Counts(columns) => (0..)
                .zip(columns)
                .for_each(|(position, column)| extend(column, self.counts(position), &range, ABSENT, rows)),
            Columns::Numbers(columns) => (0..).zip(columns).for_each(|(position, column)| {
                extend(column, self.numbers(position), &range, f64::NAN, rows)
            }),
        }
    }
}

/// Adds a range of values to a column; `missing` up to the number of rows if there are none.
fn extend<T: Copy>(column: &mut Vec<T>, values: Option<&[T]>, range: &Range<usize>, missing: T, rows: usize) {
    column.extend_from_slice(values.map_or(&[], |values| &values[range.clone()]));
    column.resize(rows, missing);
}

/// Called for every piece.
pub(crate) type VisitPiece<'a> = dyn FnMut(Piece) -> ControlFlow<()> + 'a;

/// Turns the batches of one segment into pieces; keeps what they share.
#[derive(Debug)]
pub(crate) struct Pieces {
    schema: &'static Schema,
    names: Option<(ArrayRef, Arc<[Arc<str>]>)>,
}

impl Pieces {
    pub(crate) fn new(schema: &'static Schema) -> Self {
        Pieces { schema, names: None }
    }

    /// A batch as a piece; the error describes a malformed batch.
    pub(crate) fn piece(&mut self, batch: &RecordBatch) -> Result<Piece, String> {
        let missing = |name: &str| format!("expected a column {name}, found none");
        let time = batch.column_by_name(TIME).ok_or_else(|| missing(TIME))?;
        let component = batch.column_by_name(COMPONENT).ok_or_else(|| missing(COMPONENT))?;
        let uptime = batch.column_by_name(UPTIME).filter(|uptime| uptime.null_count() < uptime.len());
        Ok(Piece {
            schema: self.schema,
            time: time_values(time)?,
            uptime: uptime.map(uptime_values).transpose()?,
            component: component_keys(component)?,
            names: self.names_of(component)?,
            columns: self.columns(batch)?,
        })
    }

    fn columns(&self, batch: &RecordBatch) -> Result<Vec<Option<Column>>, String> {
        let column = |name: &str| batch.column_by_name(name).map(|array| column(array, name)).transpose();
        self.schema.columns.iter().map(|c| column(c.name)).collect()
    }

    /// The names behind a component column. All batches of a row group share one dictionary.
    fn names_of(&mut self, component: &ArrayRef) -> Result<Arc<[Arc<str>]>, String> {
        let dictionary = component.as_dictionary_opt::<Int32Type>().ok_or_else(wrong_component)?;
        let values = dictionary.values();
        if let Some((last, names)) = &self.names
            && Arc::ptr_eq(last, values)
        {
            return Ok(names.clone());
        }
        let strings = values.as_string_opt::<i32>().ok_or_else(wrong_component)?;
        let names: Arc<[Arc<str>]> = strings.iter().map(|name| name.unwrap_or_default().into()).collect();
        self.names = Some((values.clone(), names.clone()));
        Ok(names)
    }
}

fn wrong_component() -> String {
    format!("expected names as a dictionary in column {COMPONENT}, found something else")
}

fn time_values(array: &ArrayRef) -> Result<ScalarBuffer<i64>, String> {
    match array.as_primitive_opt::<TimestampMicrosecondType>() {
        Some(times) if times.null_count() == 0 => Ok(times.values().clone()),
        _ => Err(format!("expected microseconds in column {TIME}, found {}", array.data_type())),
    }
}

fn uptime_values(array: &ArrayRef) -> Result<ScalarBuffer<i64>, String> {
    match array.as_primitive_opt::<Int64Type>() {
        Some(uptimes) => Ok(filled(uptimes, UPTIME_UNKNOWN)),
        None => Err(format!("expected whole numbers in column {UPTIME}, found {}", array.data_type())),
    }
}

fn component_keys(array: &ArrayRef) -> Result<ScalarBuffer<u32>, String> {
    let dictionary = array.as_dictionary_opt::<Int32Type>().ok_or_else(wrong_component)?;
    if dictionary.null_count() > 0 {
        return Err(format!("expected a name in every row of column {COMPONENT}, found none"));
    }
    let keys = dictionary.keys().values();
    // Arrow has checked that the keys are within the dictionary, hence not negative.
    Ok(ScalarBuffer::new(keys.inner().clone(), 0, keys.len()))
}

fn column(array: &ArrayRef, name: &str) -> Result<Column, String> {
    match array.data_type() {
        DataType::UInt64 => Ok(Column::Counts(filled(array.as_primitive::<UInt64Type>(), ABSENT))),
        DataType::Float64 => Ok(Column::Numbers(filled(array.as_primitive::<Float64Type>(), f64::NAN))),
        other => Err(format!("expected 64-bit numbers in column {name}, found {other}")),
    }
}

/// The values, with `missing` where there is none. Costs nothing when there are all.
fn filled<T>(array: &PrimitiveArray<T>, missing: T::Native) -> ScalarBuffer<T::Native>
where
    T: arrow_array::types::ArrowPrimitiveType,
    T::Native: ArrowNativeType,
{
    let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else {
        return array.values().clone();
    };
    let mut values = array.values().to_vec();
    let mut end = 0;
    for (valid, next) in nulls.valid_slices() {
        values[end..valid].fill(missing);
        end = next;
    }
    values[end..].fill(missing);
    values.into()
}
