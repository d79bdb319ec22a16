//! The segments that have samples of wanted components.

use std::collections::BTreeSet;
use std::sync::Arc;

use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::rhythm::Rhythm;

use crate::dataset::segment::{Overview, Segment};
use crate::error::StoreError;
use crate::format::file_name::State;
use crate::format::origin::Origin;
use crate::reading::selection::Predicate;

/// A segment, the times of its samples, and its wanted components.
pub(crate) struct TimedSegment {
    pub(crate) segment: Segment,
    /// The wanted components.
    pub(crate) components: BTreeSet<Arc<str>>,
    /// True if it has no other components.
    pub(crate) is_all_wanted: bool,
    pub(crate) first: Timestamp,
    pub(crate) last: Timestamp,
    pub(crate) rhythm: Rhythm,
    pub(crate) wraps_at_32_bits: bool,
}

/// The interval of a recording that does not state it and has too few samples to estimate it.
const FALLBACK_EVERY: Span = Span::SECOND;

impl TimedSegment {
    /// Nothing if the segment has no sample of a wanted component.
    pub(crate) fn new(segment: Segment, wanted: Predicate<'_>) -> Result<Option<TimedSegment>, StoreError> {
        let Overview { origin, times, mut components, some_times } = segment.overview()?;
        let Some((first, last)) = times else { return Ok(None) };
        let all = components.len();
        components.retain(|name| wanted(name));
        // A live tail may have more by the time it is read.
        let is_all_wanted = components.len() == all && segment.state == State::Sealed;
        if components.is_empty() {
            return Ok(None);
        }
        let (rhythm, wraps_at_32_bits) = (estimated(&origin, &some_times), origin.wraps_at_32_bits);
        Ok(Some(TimedSegment { segment, components, is_all_wanted, first, last, rhythm, wraps_at_32_bits }))
    }
}

/// The interval of a segment's samples, and their phase.
pub fn rhythm(segment: &Segment) -> Result<Rhythm, StoreError> {
    let Overview { origin, some_times, .. } = segment.overview()?;
    Ok(estimated(&origin, &some_times))
}

/// A recorder's own samples are on the grid; the phase of others is estimated.
fn estimated(origin: &Origin, some_times: &[i64]) -> Rhythm {
    let on_grid = Rhythm::on_grid(origin.every.unwrap_or(FALLBACK_EVERY));
    if origin.states_grid() { on_grid } else { Rhythm::of(some_times, origin.every).unwrap_or(on_grid) }
}
