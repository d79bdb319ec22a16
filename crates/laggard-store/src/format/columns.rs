//! Raw tables as Arrow batches.
//! In: [`RawTable`]. Out: [`RecordBatch`]. Always: time, uptime, component, then the table's own columns.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, PrimitiveArray, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef, TimeUnit};
use laggard_core::model::schema::{Schema, Values};
use laggard_core::samples::{ABSENT, Columns, RawTable, UPTIME_UNKNOWN};

use crate::format::origin::Origin;

/// Microseconds since 1970.
pub(crate) const TIME: &str = "time";
/// Microseconds since boot.
pub(crate) const UPTIME: &str = "uptime";
pub(crate) const COMPONENT: &str = "component";
const UTC: &str = "UTC";

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
        Field::new(TIME, DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())), false),
        Field::new(UPTIME, DataType::Int64, true),
        Field::new(COMPONENT, component_type(), false),
    ];
    fields.extend(table.columns.iter().map(|column| Field::new(column.name, value.clone(), true)));
    Arc::new(arrow_schema::Schema::new_with_metadata(fields, origin.metadata(table.name)))
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

/// A range of a table's rows as a table of its own.
pub(crate) fn rows_within(rows: &RawTable, range: Range<usize>) -> RawTable {
    let mut part = RawTable::new(rows.schema());
    for name in rows.names() {
        part.number(name);
    }
    part.time.extend_from_slice(&rows.time[range.clone()]);
    part.uptime.extend_from_slice(&rows.uptime[range.clone()]);
    part.component.extend_from_slice(&rows.component[range.clone()]);
    part.columns = match &rows.columns {
        Columns::Counts(columns) => Columns::Counts(all_within(columns, &range)),
        Columns::Numbers(columns) => Columns::Numbers(all_within(columns, &range)),
    };
    part
}

fn all_within<T: Copy>(columns: &[Vec<T>], range: &Range<usize>) -> Vec<Vec<T>> {
    columns.iter().map(|column| column[range.clone()].to_vec()).collect()
}

/// Some rows as a batch of that file.
pub(crate) fn batch(
    rows: &RawTable,
    names: &mut Names,
    schema: &SchemaRef,
) -> Result<RecordBatch, ArrowError> {
    let (time, uptime) = (times(rows.time.clone()), uptimes(rows.uptime.clone()));
    let mut arrays: Vec<ArrayRef> = vec![time, uptime, Arc::new(names.column(rows)?)];
    match &rows.columns {
        Columns::Counts(columns) => arrays.extend(columns.iter().map(|column| counts(column.clone()))),
        Columns::Numbers(columns) => arrays.extend(columns.iter().map(|column| numbers(column.clone()))),
    }
    RecordBatch::try_new(schema.clone(), arrays)
}

pub(crate) fn times(values: Vec<i64>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from(values).with_timezone(UTC))
}

pub(crate) fn uptimes(values: Vec<i64>) -> ArrayRef {
    nullable::<Int64Type>(values, |&uptime| uptime != UPTIME_UNKNOWN)
}

pub(crate) fn counts(values: Vec<u64>) -> ArrayRef {
    nullable::<UInt64Type>(values, |&count| count != ABSENT)
}

pub(crate) fn numbers(values: Vec<f64>) -> ArrayRef {
    nullable::<Float64Type>(values, |number| !number.is_nan())
}

/// An array that is null where a value is not present.
fn nullable<T: ArrowPrimitiveType>(
    mut values: Vec<T::Native>,
    is_present: impl Fn(&T::Native) -> bool,
) -> ArrayRef {
    if values.iter().all(&is_present) {
        return Arc::new(PrimitiveArray::<T>::new(values.into(), None));
    }
    let nulls = NullBuffer::new(BooleanBuffer::collect_bool(values.len(), |i| is_present(&values[i])));
    values.iter_mut().filter(|value| !is_present(value)).for_each(|value| *value = T::Native::default());
    Arc::new(PrimitiveArray::<T>::new(values.into(), Some(nulls)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use laggard_core::model::time::Timestamp;

    #[test]
    fn a_range_of_rows_has_all_columns() {
        let mut rows = RawTable::new(Schema::named("pressure").unwrap());
        let component = rows.number("a");
        rows.push_counts(Timestamp::from_seconds(1), None, component, &[1]);
        rows.push_counts(Timestamp::from_seconds(2), None, component, &[ABSENT, 3]);
        assert_eq!(rows_within(&rows, 0..2), rows);
        assert_eq!(rows_within(&rows, 1..2).counts(1), Some(&[3][..]));
    }

    #[test]
    fn absent_values_are_null() {
        assert_eq!(counts(vec![1, ABSENT, 3]).null_count(), 1);
        assert_eq!(uptimes(vec![UPTIME_UNKNOWN; 2]).null_count(), 2);
        assert_eq!(numbers(vec![0.5, f64::NAN]).null_count(), 1);
        assert!(counts(vec![1, 2]).nulls().is_none());
    }
}
