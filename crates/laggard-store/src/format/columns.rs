//! Raw tables as Arrow batches.
//! In: [`RawTable`]. Out: [`RecordBatch`]. Always: time, uptime, component, then the table's own columns.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef, TimeUnit};
use laggard_core::model::schema::{Schema, Values};
use laggard_core::samples::{ABSENT, Columns, RawTable, UPTIME_UNKNOWN};

use crate::format::origin::Origin;

/// The column of instants.
pub(crate) const TIME: &str = "time";
/// The column of times since boot, in microseconds.
pub(crate) const UPTIME: &str = "uptime";
/// The column of component names.
pub(crate) const COMPONENT: &str = "component";

/// The most names that a batch's dictionary carries over to the next one. Tables whose components come and
/// go (sockets) would otherwise drag along every name of the day.
const NAMES_KEPT: usize = 4096;

/// The Arrow schema of a table's file.
pub(crate) fn arrow_schema(table: &Schema, origin: &Origin) -> SchemaRef {
    let value = match table.values {
        Values::Counts => DataType::UInt64,
        Values::Numbers => DataType::Float64,
    };
    let mut fields = vec![
        Field::new(TIME, time_type(), false),
        Field::new(UPTIME, DataType::Int64, true),
        Field::new(
            COMPONENT,
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            false,
        ),
    ];
    fields.extend(table.columns.iter().map(|column| Field::new(column.name, value.clone(), true)));
    Arc::new(arrow_schema::Schema::new_with_metadata(fields, origin.metadata(table.name)))
}

/// The type of instants.
pub(crate) fn time_type() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// The type of the column of component names.
pub(crate) fn component_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// Numbers the component names of one file, so that a batch carries numbers and only new names are written.
#[derive(Debug)]
pub(crate) struct Names {
    numbers: HashMap<Arc<str>, i32>,
    values: Arc<StringArray>,
}

impl Default for Names {
    fn default() -> Self {
        Names { numbers: HashMap::new(), values: Arc::new(StringArray::from(Vec::<&str>::new())) }
    }
}

impl Names {
    /// The component column of some rows.
    pub(crate) fn column(&mut self, rows: &RawTable) -> Result<DictionaryArray<Int32Type>, ArrowError> {
        let mut used = vec![false; rows.names().len()];
        rows.component.iter().for_each(|&c| used[c as usize] = true);
        let used = || rows.names().iter().zip(&used);
        let new = used().filter(|(name, used)| **used && !self.numbers.contains_key(*name)).count();
        if new > 0 {
            self.grow(new, used().filter(|(_, used)| **used).map(|(name, _)| name));
        }
        let numbers: Vec<i32> =
            used().map(|(name, used)| if *used { self.numbers[name] } else { -1 }).collect();
        let keys = rows.component.iter().map(|&c| numbers[c as usize]);
        DictionaryArray::try_new(Int32Array::from_iter_values(keys), self.values.clone())
    }

    fn grow<'a>(&mut self, new: usize, used: impl Iterator<Item = &'a Arc<str>>) {
        if self.numbers.len() + new > NAMES_KEPT {
            *self = Names::default();
        }
        let mut added: Vec<&str> = Vec::with_capacity(new);
        for name in used {
            if !self.numbers.contains_key(name) {
                let number = i32::try_from(self.numbers.len()).expect("a batch has fewer rows than 2^31");
                self.numbers.insert(name.clone(), number);
                added.push(name);
            }
        }
        let kept = self.values.iter().flatten();
        self.values = Arc::new(StringArray::from_iter_values(kept.chain(added)));
    }
}

/// Frees the columns that are absent throughout: rows that wait in memory have an empty one instead. Gives the
/// number of those that are left.
pub(crate) fn lighten(rows: &mut RawTable) -> usize {
    match &mut rows.columns {
        Columns::Counts(columns) => lightened(columns, |&count| count == ABSENT),
        Columns::Numbers(columns) => lightened(columns, |number| number.is_nan()),
    }
}

fn lightened<T>(columns: &mut [Vec<T>], is_absent: impl Fn(&T) -> bool) -> usize {
    let absent = columns.iter_mut().filter(|column| column.iter().all(&is_absent));
    absent.for_each(|column| *column = Vec::new());
    columns.iter().filter(|column| !column.is_empty()).count()
}

/// A stretch of a table's rows as a table of its own, with all columns.
pub(crate) fn rows_within(rows: &RawTable, range: Range<usize>) -> RawTable {
    let mut part = RawTable::new(rows.schema());
    for name in rows.names() {
        part.number(name);
    }
    part.time.extend_from_slice(&rows.time[range.clone()]);
    part.uptime.extend_from_slice(&rows.uptime[range.clone()]);
    part.component.extend_from_slice(&rows.component[range.clone()]);
    part.columns = match &rows.columns {
        Columns::Counts(columns) => Columns::Counts(all_within(columns, &range, ABSENT)),
        Columns::Numbers(columns) => Columns::Numbers(all_within(columns, &range, f64::NAN)),
    };
    part
}

fn all_within<T: Copy>(columns: &[Vec<T>], range: &Range<usize>, absent: T) -> Vec<Vec<T>> {
    let within = |column: &Vec<T>| match column.get(range.clone()) {
        Some(values) => values.to_vec(),
        None => vec![absent; range.len()],
    };
    columns.iter().map(within).collect()
}

/// Some rows as a batch of that file.
pub(crate) fn batch(
    rows: &RawTable,
    names: &mut Names,
    schema: &SchemaRef,
) -> Result<RecordBatch, ArrowError> {
    let time = TimestampMicrosecondArray::from(rows.time.clone()).with_timezone("UTC");
    let uptime = Int64Array::new(rows.uptime.clone().into(), present(&rows.uptime, |&u| u != UPTIME_UNKNOWN));
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(time), Arc::new(uptime), Arc::new(names.column(rows)?)];
    match &rows.columns {
        Columns::Counts(columns) => arrays.extend(columns.iter().map(|column| counts(column))),
        Columns::Numbers(columns) => arrays.extend(columns.iter().map(|column| numbers(column))),
    }
    RecordBatch::try_new(schema.clone(), arrays)
}

fn counts(values: &[u64]) -> ArrayRef {
    let nulls = present(values, |&value| value != ABSENT);
    let kept = values.iter().map(|&value| if value == ABSENT { 0 } else { value });
    Arc::new(UInt64Array::new(kept.collect(), nulls))
}

fn numbers(values: &[f64]) -> ArrayRef {
    let nulls = present(values, |value| !value.is_nan());
    let kept = values.iter().map(|&value| if value.is_nan() { 0.0 } else { value });
    Arc::new(Float64Array::new(kept.collect(), nulls))
}

/// Which values there are; nothing when there are all.
fn present<T>(values: &[T], is_present: impl Fn(&T) -> bool) -> Option<NullBuffer> {
    if values.iter().all(&is_present) {
        return None;
    }
    Some(NullBuffer::new(BooleanBuffer::collect_bool(values.len(), |i| is_present(&values[i]))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use laggard_core::model::time::Timestamp;

    #[test]
    fn rows_that_were_lightened_are_whole_again() {
        let mut rows = RawTable::new(Schema::named("pressure").unwrap());
        let component = rows.number("a");
        rows.push_counts(Timestamp::from_seconds(1), None, component, &[1]);
        rows.push_counts(Timestamp::from_seconds(2), None, component, &[ABSENT, 3]);
        let (whole, width) = (rows.clone(), lighten(&mut rows));
        assert_eq!(width, 2);
        assert_eq!(rows.counts(2), Some(&[][..]));
        assert_eq!(rows_within(&rows, 0..2), whole);
    }
}
