//! The wanted rows of a batch.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, TimestampMicrosecondType};
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_select::filter::filter_record_batch;

use crate::format::columns::{COMPONENT, TIME};
use crate::reading::selection::WantedRows;

/// The rows of a batch that have a wanted time and component; the error describes a malformed batch.
pub(crate) fn filtered(batch: RecordBatch, wanted: &WantedRows<'_>) -> Result<RecordBatch, String> {
    let time =
        batch.column_by_name(TIME).and_then(|time| time.as_primitive_opt::<TimestampMicrosecondType>());
    let times = time.ok_or_else(|| format!("expected microseconds in column {TIME}"))?.values();
    let all_times = times.iter().all(|&t| wanted.has_time(t));
    if all_times && wanted.components.is_none() {
        return Ok(batch);
    }
    let mut mask = BooleanBuffer::collect_bool(times.len(), |row| wanted.has_time(times[row]));
    if let Some(is_wanted) = wanted.components {
        let column = batch.column_by_name(COMPONENT).and_then(|c| c.as_dictionary_opt::<Int32Type>());
        let column = column.ok_or_else(|| format!("expected names in column {COMPONENT}"))?;
        let names = column.values().as_string_opt::<i32>().ok_or("expected names in the dictionary")?;
        let known: Vec<bool> = names.iter().map(|name| name.is_some_and(is_wanted)).collect();
        let keys = column.keys();
        mask = &mask
            & &BooleanBuffer::collect_bool(keys.len(), |row| {
                keys.is_valid(row) && known[keys.value(row) as usize]
            });
    }
    filter_record_batch(&batch, &BooleanArray::new(mask, None)).map_err(|error| error.to_string())
}
