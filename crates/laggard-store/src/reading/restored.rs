//! The columns of a sealed file as they were recorded.
//! In: batches with stand-ins. Out: batches with what these stand in for. Always: a file of an earlier format,
//! which has none, is left as it is.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int64Type, TimestampMicrosecondType, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, UInt64Array};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, TimeUnit};

use crate::format::columns::UPTIME;
use crate::sealed::stand_in::StandIn;

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
        if let [first, others @ ..] = stand_ins(&schema, name) {
            let column = column(batch, name, first, others)?;
            fields.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
            columns.push(column);
        } else if let Some((index, field)) = schema.fields().find(name) {
            fields.push(field.clone());
            columns.push(batch.column(index).clone());
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(|error| error.to_string())
}

fn column(batch: &RecordBatch, name: &str, first: &StandIn, others: &[StandIn]) -> Result<ArrayRef, String> {
    let mut values = shares(batch, first)?;
    for other in others {
        let shares = shares(batch, other)?;
        values.iter_mut().zip(shares).for_each(|(value, share)| *value = value.wrapping_add(share));
    }
    let (nulls, len) = (found(batch, first.name)?.nulls().cloned(), values.len());
    Ok(match name {
        UPTIME => Arc::new(Int64Array::new(ScalarBuffer::new(Buffer::from_vec(values), 0, len), nulls)),
        _ => Arc::new(UInt64Array::new(values.into(), nulls)),
    })
}

fn found<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b ArrayRef, String> {
    batch.column_by_name(name).ok_or_else(|| format!("expected a column {name}, found none"))
}

/// What a stand-in adds to the value of each row.
fn shares(batch: &RecordBatch, stand_in: &StandIn) -> Result<Vec<u64>, String> {
    let written = bits(found(batch, stand_in.name)?, stand_in.name)?;
    Ok(match sums(batch, stand_in)? {
        Some(sums) => {
            written.iter().zip(&*sums).map(|(&written, &sum)| stand_in.share(written, sum)).collect()
        }
        None => written.iter().map(|&written| stand_in.share(written, 0)).collect(),
    })
}

/// The sum of each row; nothing where there is nothing to add up.
fn sums(batch: &RecordBatch, stand_in: &StandIn) -> Result<Option<ScalarBuffer<u64>>, String> {
    let mut sums: Option<ScalarBuffer<u64>> = None;
    for (part, array) in stand_in.parts().iter().filter_map(|part| Some((part, batch.column_by_name(part)?)))
    {
        let values = bits_or_nothing(array, part)?;
        sums = Some(match sums {
            Some(sums) => sums.iter().zip(&*values).map(|(sum, value)| sum.wrapping_add(*value)).collect(),
            None => values,
        });
    }
    Ok(sums)
}

/// Values of 64 bits, 0 where there is none.
fn bits_or_nothing(array: &ArrayRef, name: &str) -> Result<ScalarBuffer<u64>, String> {
    let values = bits(array, name)?;
    Ok(match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        Some(nulls) => {
            values.iter().zip(nulls).map(|(&value, is_there)| if is_there { value } else { 0 }).collect()
        }
        None => values,
    })
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
