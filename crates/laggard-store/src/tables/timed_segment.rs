//! The segments that have samples of wanted components.

use std::collections::BTreeSet;
use std::sync::Arc;

use laggard_core::model::time::{Span, Timestamp};
use laggard_core::tables::schedule::SamplingSchedule;
use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use crate::dataset::segment::{Overview, Segment};
use crate::dataset::{Dataset, Listing};
use crate::error::{Problem, StoreError};
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
    pub(crate) rhythm: SamplingSchedule,
    pub(crate) wraps_at_32_bits: bool,
}

/// The interval of a recording that does not state it and has too few samples to estimate it.
const FALLBACK_EVERY: Span = Span::SECOND;

impl TimedSegment {
    /// Nothing if the segment has no sample of a wanted component.
    pub(crate) fn new(segment: Segment, overview: Overview, wanted: Predicate<'_>) -> Option<TimedSegment> {
        let Overview { origin, times, mut components, some_times } = overview;
        let (first, last) = times?;
        let all = components.len();
        components.retain(|name| wanted(name));
        // A live tail may have more by the time it is read.
        let is_all_wanted = components.len() == all && segment.state == State::Sealed;
        if components.is_empty() {
            return None;
        }
        let (rhythm, wraps_at_32_bits) = (estimated(&origin, &some_times), origin.wraps_at_32_bits);
        Some(TimedSegment { segment, components, is_all_wanted, first, last, rhythm, wraps_at_32_bits })
    }
}

/// Segments with their overviews, and the files that could not be read.
type Overviews = (Vec<(Segment, Overview)>, Vec<Problem>);

/// Opens each chosen segment of a dataset once.
pub(crate) fn overviews(
    dataset: &Dataset,
    is_chosen: impl Fn(&Segment) -> bool,
) -> Result<Overviews, StoreError> {
    let Listing { mut segments, mut problems } = dataset.segments()?;
    segments.retain(is_chosen);
    let with_overview = |segment: Segment| {
        let overview = segment.overview();
        (segment, overview)
    };
    let opened: Vec<_> = segments.into_par_iter().map(with_overview).collect();
    let mut overviews = Vec::with_capacity(opened.len());
    for (segment, overview) in opened {
        match overview {
            Ok(overview) => overviews.push((segment, overview)),
            // Removed by the retention since it was listed.
            Err(error) if error.is_absent() => {}
            Err(error) => problems.push(Problem { name: segment.name().to_string(), error }),
        }
    }
    Ok((overviews, problems))
}

/// The interval of a segment's samples, and their phase.
pub fn rhythm(segment: &Segment) -> Result<SamplingSchedule, StoreError> {
    let Overview { origin, some_times, .. } = segment.overview()?;
    Ok(estimated(&origin, &some_times))
}

/// A recorder's own samples are on the grid; the phase of others is estimated.
fn estimated(origin: &Origin, some_times: &[i64]) -> SamplingSchedule {
    let on_grid = SamplingSchedule::on_grid(origin.every.unwrap_or(FALLBACK_EVERY));
    if origin.states_grid() {
        on_grid
    } else {
        SamplingSchedule::of(some_times, origin.every).unwrap_or(on_grid)
    }
}
