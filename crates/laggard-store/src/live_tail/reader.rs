//! Reading a live tail, up to its last whole message.

use std::ops::ControlFlow;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use laggard_core::model::schema::Schema;

use crate::error::StoreError;
use crate::format::columns::{COMPONENT, TIME, UPTIME};
use crate::format::origin::Origin;
use crate::live_tail::frame::{End, Frames};
use crate::location::Source;
use crate::reading::filtered;
use crate::reading::piece::{Pieces, VisitPiece};
use crate::reading::selection::WantedRows;

/// Messages of a tail are small; pieces of this many rows are handed out.
const ROWS_PER_PIECE: usize = 16 * 1024;

/// The origin of the samples; nothing while the tail lacks its first message.
pub(crate) fn origin(path: &Path, source: &Source) -> Result<Option<Origin>, StoreError> {
    let mut frames = Frames::new(source.stream(0));
    let schema = frames.read_schema().map_err(|error| StoreError::io(path, "read it", error))?;
    schema.map(|schema| Origin::read(schema.metadata(), path)).transpose()
}

pub(crate) fn scan(
    path: &Path,
    table: &'static Schema,
    source: &Source,
    wanted: &WantedRows<'_>,
    visit: &mut VisitPiece<'_>,
) -> Result<ControlFlow<()>, StoreError> {
    let unreadable = |error| StoreError::io(path, "read it", error);
    let mut frames = Frames::new(source.stream(0));
    let Some(schema) = frames.read_schema().map_err(unreadable)? else {
        return match frames.end() {
            Some(End::Damaged(what)) => Err(StoreError::broken(path, what.clone())),
            _ => Ok(ControlFlow::Continue(())),
        };
    };
    Origin::read(schema.metadata(), path)?;
    let projection = projection(&schema, wanted);
    let mut pending = Pending { path, wanted, pieces: Pieces::new(table), batches: Vec::new(), rows: 0 };
    while let Some(frame) = frames.next().map_err(unreadable)? {
        // A message that cannot be decoded is left out, as it is when the tail is sealed.
        let Ok(batch) = frame.decode(&projection) else { continue };
        if pending.add(batch, visit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    pending.hand_out(visit)
}

/// The positions of the columns to decode.
fn projection(schema: &SchemaRef, wanted: &WantedRows<'_>) -> Vec<usize> {
    let names = [TIME, UPTIME, COMPONENT].into_iter().chain(wanted.columns.iter().copied());
    let mut positions: Vec<usize> = names.filter_map(|name| schema.index_of(name).ok()).collect();
    positions.sort_unstable();
    positions
}

/// Wanted rows of several messages that are not yet a piece.
struct Pending<'a> {
    path: &'a Path,
    wanted: &'a WantedRows<'a>,
    pieces: Pieces,
    batches: Vec<RecordBatch>,
    rows: usize,
}

impl Pending<'_> {
    fn add(&mut self, batch: RecordBatch, visit: &mut VisitPiece<'_>) -> Result<ControlFlow<()>, StoreError> {
        let batch = filtered(batch, self.wanted).map_err(|what| StoreError::broken(self.path, what))?;
        self.rows += batch.num_rows();
        self.batches.extend((batch.num_rows() > 0).then_some(batch));
        if self.rows >= ROWS_PER_PIECE { self.hand_out(visit) } else { Ok(ControlFlow::Continue(())) }
    }

    fn hand_out(&mut self, visit: &mut VisitPiece<'_>) -> Result<ControlFlow<()>, StoreError> {
        let Some(first) = self.batches.first() else { return Ok(ControlFlow::Continue(())) };
        let broken = |what: String| StoreError::broken(self.path, what);
        let whole =
            concat_batches(&first.schema(), &self.batches).map_err(|error| broken(error.to_string()))?;
        self.batches.clear();
        self.rows = 0;
        let piece = self.pieces.piece(&whole).map_err(|what| StoreError::broken(self.path, what))?;
        Ok(visit(piece))
    }
}
