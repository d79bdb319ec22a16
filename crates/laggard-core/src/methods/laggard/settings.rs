//! The numbers of the method, with reasons. The lengths of the windows are in [`super::window_lengths`].

use serde::{Deserialize, Serialize};

use super::window_lengths::default_lengths;
use crate::model::time::Span;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The lengths of the windows, shortest first.
    pub lengths: Vec<Span>,
    /// The length of the recording, if it is known in advance. In a short recording, short windows have to be enough;
    /// in a long one, they only show severe slowness.
    pub span: Option<Span>,
    /// A recording up to this length is read at full resolution.
    pub short_recording: Span,
    /// The step in longer recordings.
    pub coarse_step: Span,
    /// A window is anomalous if its score exceeds this. With the floor of latencies, 1.4 means at least 1.23 times the
    /// peers' latency: smaller differences are not worth reporting.
    pub threshold: f64,
    /// Windows at least this long use the threshold unchanged. For shorter ones it grows with the square root of the
    /// ratio: over ten minutes, any component may be slow once (Intrepid paper, 4.3).
    pub full_length: Span,
    /// The same for absence, idleness and activity: a restart is not a fault.
    pub full_length_of_presence: Span,
    /// Neighbouring samples are similar: the error of a mean is larger by this factor than for independent samples.
    pub autocorrelation: f64,
}

impl Settings {
    /// The recording is known to be short.
    pub fn is_short(&self) -> bool {
        self.span.is_some_and(|span| span <= self.short_recording)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            lengths: default_lengths(),
            span: None,
            short_recording: Span::from_seconds(2 * 3600),
            coarse_step: Span::from_seconds(15),
            threshold: 1.4,
            full_length: Span::from_seconds(3600),
            full_length_of_presence: Span::from_seconds(2 * 3600),
            autocorrelation: 2.0,
        }
    }
}
