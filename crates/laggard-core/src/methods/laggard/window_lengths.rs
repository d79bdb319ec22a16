//! The lengths of the windows, and how long windows are composed of blocks.

use super::settings::Settings;
use crate::model::time::Span;

/// A window with fewer instants is not evaluated.
pub(super) const FEWEST_INSTANTS: usize = 4;

/// A block is at most this long, unless samples are too rare.
const LONGEST_BLOCK: Span = Span::from_seconds(300);

pub(super) fn default_lengths() -> Vec<Span> {
    [1, 5, 15, 30, 60, 120, 360, 1440].map(|minutes| Span::from_seconds(60 * minutes)).to_vec()
}

impl Settings {
    /// The same with windows of these lengths, in any order.
    pub fn with_lengths(self, mut lengths: Vec<Span>) -> Settings {
        lengths.sort_unstable();
        lengths.dedup();
        Settings { lengths, ..self }
    }

    /// The window that longer ones are composed of: the longest requested length up to five minutes or, where samples
    /// are too rare for that, the shortest that holds enough of them.
    pub(super) fn block(&self, step: Span) -> Span {
        let least = step * FEWEST_INSTANTS as i64;
        let enough = || self.lengths.iter().copied().filter(|length| *length >= least);
        let short = enough().filter(|length| *length <= LONGEST_BLOCK).max();
        short.or(enough().min()).unwrap_or(least.max(LONGEST_BLOCK))
    }

    /// The lengths that are shorter than a block and hold enough instants.
    pub(super) fn below(&self, block: Span, step: Span) -> impl Iterator<Item = Span> {
        let least = step * FEWEST_INSTANTS as i64;
        self.lengths.iter().copied().filter(move |length| *length < block && *length >= least)
    }

    /// The first length that neither divides a block nor is a multiple of one.
    pub fn unfit_length(&self) -> Option<Span> {
        let block = self.block(Span::SECOND).micros();
        let fits = |length: i64| length > 0 && (block % length == 0 || length % block == 0);
        self.lengths.iter().copied().find(|length| !fits(length.micros()))
    }
}
