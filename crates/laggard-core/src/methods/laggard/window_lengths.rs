//! The lengths of the windows. Longer ones are composed of blocks.

use crate::model::time::Span;

/// A window with fewer instants is not evaluated.
pub(super) const FEWEST_INSTANTS: usize = 4;

/// A block is at most this long, unless samples are too rare.
pub(super) const LONGEST_BLOCK: Span = Span::from_seconds(300);

pub(super) fn default_lengths() -> Vec<Span> {
    [1, 5, 15, 30, 60, 120, 360, 1440].map(|minutes| Span::from_seconds(60 * minutes)).to_vec()
}
