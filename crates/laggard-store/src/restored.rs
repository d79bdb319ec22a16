//! The columns of a sealed file as they were recorded.
//! In: batches with stand-ins. Out: batches with what these stand in for. Always: a file of an earlier format,
//! which has none, is left as it is.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int64Type, TimestampMicrosecondType, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, UInt64Array};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType, Field, Schema, TimeUnit};

use crate::columns::UPTIME;
use crate::stand_in::StandIn;

/// The columns of a file that make the wanted ones.
pub(crate) fn needed<'n>(file: &Schema, wanted: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let of = |column| match stand_ins(file, column) {
        [] => vec![column],
        some => some.iter().flat_map(|s| s.parts().iter().copied().chain([s.name])).collect(),
    };
    wanted.flat_map(of).collect()
}

fn stand_ins(file: &Schema, column: &str) -> &'static [StandIn] {
    let known = StandIn::of(column);
    if known.iter().all(|stand_in| file.index_of(stand_in.name).is_ok()) { known } else { &[] }
}

/// The wanted columns of a batch that has what they need; the error says what is wrong with the batch.
pub(crate) fn restored<'n>(
    batch: &RecordBatch,
    wanted: impl Iterator<Item = &'n str>,
) -> Result<RecordBatch, String> {
    let schema = batch.schema();
    let (mut fields, mut columns): (Vec<Arc<Field>>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for name in wanted {
        if let some @ [first, ..] = stand_ins(&schema, name) {
            let column = column(batch, name, first, some)?;
            fields.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
            columns.push(column);
        } else if let Some((index, field)) = schema.fields().find(name) {
            fields.push(field.clone());
            columns.push(batch.column(index).clone());
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|error| error.to_string())
}

fn column(
    batch: &RecordBatch,
    name: &str,
    first: &StandIn,
    stand_ins: &[StandIn],
) -> Result<ArrayRef, String> {
    let mut values = vec![0; batch.num_rows()];
    for stand_in in stand_ins {
        let sums = sums(batch, stand_in)?;
        let written = bits(found(batch, stand_in.name)?, stand_in.name)?;
        let shares = written.iter().zip(sums).map(|(&written, sum)| stand_in.share(written, sum));
        values
            .iter_mut()
            .zip(shares)
            .for_each(|(value, share): (&mut u64, _)| *value = value.wrapping_add(share));
    }
    let nulls = found(batch, first.name)?.nulls().cloned();
    Ok(match name {
        UPTIME => Arc::new(Int64Array::new(values.into_iter().map(u64::cast_signed).collect(), nulls)),
        _ => Arc::new(UInt64Array::new(values.into(), nulls)),
    })
}

fn found<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b ArrayRef, String> {
    batch.column_by_name(name).ok_or_else(|| format!("expected a column {name}, found none"))
}

fn sums(batch: &RecordBatch, stand_in: &StandIn) -> Result<Vec<u64>, String> {
    let mut sums = vec![0; batch.num_rows()];
    for part in stand_in.parts() {
        batch.column_by_name(part).map_or(Ok(()), |array| add(array, part, &mut sums))?;
    }
    Ok(sums)
}

fn add(array: &ArrayRef, name: &str, sums: &mut [u64]) -> Result<(), String> {
    let values = bits(array, name)?;
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => sums.iter_mut().zip(&*values).for_each(|(sum, &value)| *sum = sum.wrapping_add(value)),
        Some(nulls) => nulls.valid_indices().for_each(|row| sums[row] = sums[row].wrapping_add(values[row])),
    }
    Ok(())
}

/// Values of 64 bits, whatever they mean.
fn bits(array: &ArrayRef, name: &str) -> Result<ScalarBuffer<u64>, String> {
    match array.data_type() {
        DataType::UInt64 => Ok(array.as_primitive::<UInt64Type>().values().clone()),
        DataType::Int64 => Ok(unsigned::<Int64Type>(array)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => Ok(unsigned::<TimestampMicrosecondType>(array)),
        other => Err(format!("expected whole 64-bit numbers in column {name}, found {other}")),
    }
}

fn unsigned<T: ArrowPrimitiveType<Native = i64>>(array: &ArrayRef) -> ScalarBuffer<u64> {
    let values = array.as_primitive::<T>().values();
    ScalarBuffer::new(values.inner().clone(), 0, values.len())
}
