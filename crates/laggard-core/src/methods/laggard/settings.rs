//! The numbers of the method, with reasons. The lengths of the windows are in [`super::window_lengths`].

use serde::{Deserialize, Serialize};

use super::window_lengths::{FEWEST_INSTANTS, LONGEST_BLOCK, default_lengths};
use crate::model::time::Span;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The lengths of the windows, shortest first.
    pub lengths: Vec<Span>,
    /// The length of the recording, if it is known in advance.
    pub span: Option<Span>,
    /// A recording up to this length is read with the fine step. Values over a step are means of all its requests, so a stall
    /// counts with everything that waited for it.
    pub short_recording: Span,
    pub fine_step: Span,
    /// The step in longer recordings.
    pub coarse_step: Span,
    /// A distance within this many standard deviations of healthy members may be chance: about one in a million is
    /// farther away, and a component has about a thousand windows a day.
    pub deviations: f64,
    /// Windows at least this long use the threshold unchanged. In shorter ones a component has to be slower to be called
    /// faulty: over ten minutes, any component may be slow once (Intrepid paper, 4.3).
    pub full_length: Span,
    /// Neighbouring samples are similar: the error of a mean is larger by this factor than for independent samples.
    pub autocorrelation: f64,
}

impl Settings {
    /// The recording is known to be short.
    pub fn is_short(&self) -> bool {
        self.span.is_some_and(|span| span <= self.short_recording)
    }

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

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            lengths: default_lengths(),
            span: None,
            short_recording: Span::from_seconds(2 * 3600),
            fine_step: Span::from_seconds(5),
            coarse_step: Span::from_seconds(15),
            deviations: 4.0,
            full_length: Span::from_seconds(3600),
            autocorrelation: 2.0,
        }
    }
}
