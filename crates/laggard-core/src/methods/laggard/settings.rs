//! The numbers of the method, and why they are what they are.

use serde::{Deserialize, Serialize};

use crate::model::time::Span;

/// Fewer instants than this make no window.
pub const FEWEST_INSTANTS: usize = 4;

/// The numbers of the method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How long the windows are, shortest first.
    pub lengths: Vec<Span>,
    /// How much of a recording will be looked at, where that is known beforehand. A short look has to make do
    /// with short windows; in a long one, short windows only tell of what is terrible.
    pub span: Option<Span>,
    /// A recording no longer than this is looked at in full detail.
    pub short_recording: Span,
    /// The distance of instants in longer ones.
    pub coarse_step: Span,
    /// The score from which on a window is anomalous. With the floor of latencies this asks for 1.23 times the
    /// peers' latency at least: less is not worth a person's time.
    pub threshold: f64,
    /// Windows shorter than this have to be worse to count, by the root of how much shorter they are: for ten
    /// minutes everybody may be slow once (Intrepid paper, 4.3).
    pub full_length: Span,
    /// The same, for windows of absence, idleness and activity: restarts are no trouble, and what is lost is sure sooner
    /// than what is slow.
    pub full_length_of_shares: Span,
    /// By how much neighbouring samples being alike widens the error of a mean.
    pub likeness: f64,
}

impl Settings {
    /// From a minute to a day.
    fn default_lengths() -> Vec<Span> {
        [1, 5, 15, 30, 60, 120, 360, 1440].map(|minutes| Span::from_seconds(60 * minutes)).to_vec()
    }

    /// The same with windows of these lengths, in any order.
    pub fn with_lengths(self, mut lengths: Vec<Span>) -> Settings {
        lengths.sort_unstable();
        lengths.dedup();
        Settings { lengths, ..self }
    }

    /// Whether the recording is known to be short.
    pub fn is_short(&self) -> bool {
        self.span.is_some_and(|span| span <= self.short_recording)
    }

    /// The window that longer ones are put together from: the longest that is asked for up to five minutes, or, where
    /// samples are too rare for that, the shortest that holds enough of them.
    pub fn block(&self, step: Span) -> Span {
        const LONGEST: Span = Span::from_seconds(300);
        let least = step * FEWEST_INSTANTS as i64;
        let enough = || self.lengths.iter().copied().filter(|length| *length >= least);
        enough().filter(|length| *length <= LONGEST).max().or(enough().min()).unwrap_or(least.max(LONGEST))
    }

    /// The windows that are shorter than a block, and hold enough instants.
    pub fn below(&self, block: Span, step: Span) -> impl Iterator<Item = Span> {
        let least = step * FEWEST_INSTANTS as i64;
        self.lengths.iter().copied().filter(move |length| *length < block && *length >= least)
    }

    /// Windows are side by side in a block, or blocks in a window: the first length that is neither.
    pub fn unfit(&self) -> Option<Span> {
        let block = self.block(Span::SECOND).micros();
        let fits = |length: i64| length > 0 && (block % length == 0 || length % block == 0);
        self.lengths.iter().copied().find(|length| !fits(length.micros()))
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            lengths: Settings::default_lengths(),
            span: None,
            short_recording: Span::from_seconds(2 * 3600),
            coarse_step: Span::from_seconds(15),
            threshold: 1.4,
            full_length: Span::from_seconds(3600),
            full_length_of_shares: Span::from_seconds(2 * 3600),
            likeness: 2.0,
        }
    }
}
