//! Reading a live tail, up to its last whole message.

use std::ops::ControlFlow;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, TimestampMicrosecondType};
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_buffer::BooleanBuffer;
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;

use crate::dataset::segment::{Segment, Visit};
use crate::error::StoreError;
use crate::format::columns::{COMPONENT, TIME, UPTIME};
use crate::format::origin::Origin;
use crate::live_tail::frame::{End, Frames};
use crate::location::Source;
use crate::reading::piece::Pieces;
use crate::reading::selection::WantedRows;

/// Messages of a tail are small; so many rows of them are handed out at once.
const ROWS_AT_ONCE: usize = 16 * 1024;

/// Who took the samples. A tail without its first message yet only has its name to tell.
pub(crate) fn origin(segment: &Segment, source: Source) -> Result<Origin, StoreError> {
    let path = segment.path();
    let mut frames = Frames::new(source.stream(0));
    match frames.read_schema().map_err(|error| StoreError::io(&path, "read it", error))? {
        Some(schema) => Origin::read(schema.metadata(), &path),
        None => Ok(Origin {
            host: segment.host.clone(),
            every: None,
            wraps_at_32_bits: false,
            source: String::new(),
        }),
    }
}

pub(crate) fn scan(
    segment: &Segment,
    source: Source,
    wanted: &WantedRows<'_>,
    visit: &mut Visit<'_>,
) -> Result<ControlFlow<()>, StoreError> {
    let path = segment.path();
    let unreadable = |error| StoreError::io(&path, "read it", error);
    let mut frames = Frames::new(source.stream(0));
    let Some(schema) = frames.read_schema().map_err(unreadable)? else {
        return nothing_or_damage(segment, &frames);
    };
    Origin::read(schema.metadata(), &path)?;
    let projection = projection(&schema, wanted);
    let mut gathered =
        Gathered { segment, wanted, pieces: Pieces::new(segment.table), batches: Vec::new(), rows: 0 };
    while let Some(frame) = frames.next().map_err(unreadable)? {
        // A message that makes no sense is left out here as it is when the tail is sealed.
        let Ok(batch) = frame.decode(&projection) else { continue };
        if gathered.add(batch, visit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    gathered.hand_out(visit)
}

fn nothing_or_damage<R: std::io::Read>(
    segment: &Segment,
    frames: &Frames<R>,
) -> Result<ControlFlow<()>, StoreError> {
    match frames.end() {
        Some(End::Damaged(what)) => Err(StoreError::broken(segment.path(), what.clone())),
        _ => Ok(ControlFlow::Continue(())),
    }
}

/// The positions of the columns to decode.
fn projection(schema: &SchemaRef, wanted: &WantedRows<'_>) -> Vec<usize> {
    let names = [TIME, UPTIME, COMPONENT].into_iter().chain(wanted.columns.iter().copied());
    let mut positions: Vec<usize> = names.filter_map(|name| schema.index_of(name).ok()).collect();
    positions.sort_unstable();
    positions
}

struct Gathered<'a> {
    segment: &'a Segment,
    wanted: &'a WantedRows<'a>,
    pieces: Pieces,
    batches: Vec<RecordBatch>,
    rows: usize,
}

impl Gathered<'_> {
    fn add(&mut self, batch: RecordBatch, visit: &mut Visit<'_>) -> Result<ControlFlow<()>, StoreError> {
        let batch =
            filtered(batch, self.wanted).map_err(|what| StoreError::broken(self.segment.path(), what))?;
        self.rows += batch.num_rows();
        self.batches.extend((batch.num_rows() > 0).then_some(batch));
        if self.rows >= ROWS_AT_ONCE { self.hand_out(visit) } else { Ok(ControlFlow::Continue(())) }
    }

    fn hand_out(&mut self, visit: &mut Visit<'_>) -> Result<ControlFlow<()>, StoreError> {
        let Some(first) = self.batches.first() else { return Ok(ControlFlow::Continue(())) };
        let broken = |what: String| StoreError::broken(self.segment.path(), what);
        let whole =
            concat_batches(&first.schema(), &self.batches).map_err(|error| broken(error.to_string()))?;
        self.batches.clear();
        self.rows = 0;
        let piece =
            self.pieces.piece(&whole).map_err(|what| StoreError::broken(self.segment.path(), what))?;
        Ok(visit(self.segment, piece))
    }
}

/// The wanted rows of a batch.
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
