//! What a trace says of itself after its events.

use serde::{Deserialize, Serialize};

use super::header::{LayerTitle, Window};

/// After the events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footer {
    /// What became of every source, in the order of the header's.
    #[serde(default)]
    pub sources: Vec<Counters>,
    /// The layers that did occur.
    #[serde(default)]
    pub layers: Vec<LayerTitle>,
    /// From the first to the last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// How many events were written.
    #[serde(default)]
    pub events: u64,
    /// Set by the reader when the file has no footer: it was cut short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut_short: bool,
}

/// What became of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Records understood.
    pub read: u64,
    /// Events the tool says it lost.
    #[serde(default)]
    pub lost: u64,
    /// How often a buffer overran.
    #[serde(default)]
    pub overrun: u64,
    /// Records that could not be understood.
    #[serde(default)]
    pub dropped: u64,
    /// Requests whose end is missing.
    #[serde(default)]
    pub unmatched_begin: u64,
    /// Ends of requests whose begin is missing.
    #[serde(default)]
    pub unmatched_end: u64,
    /// Requests that ended before they began.
    #[serde(default)]
    pub negative: u64,
    /// Records that came after later ones.
    #[serde(default)]
    pub out_of_order: u64,
}

impl Counters {
    /// The sum of two.
    pub fn plus(&self, other: &Counters) -> Counters {
        Counters {
            read: self.read.saturating_add(other.read),
            lost: self.lost.saturating_add(other.lost),
            overrun: self.overrun.saturating_add(other.overrun),
            dropped: self.dropped.saturating_add(other.dropped),
            unmatched_begin: self.unmatched_begin.saturating_add(other.unmatched_begin),
            unmatched_end: self.unmatched_end.saturating_add(other.unmatched_end),
            negative: self.negative.saturating_add(other.negative),
            out_of_order: self.out_of_order.saturating_add(other.out_of_order),
        }
    }

    /// The share of events that is missing, from 0 to 1.
    pub fn loss(&self) -> f64 {
        let missing = self.lost.saturating_add(self.dropped);
        if missing == 0 { 0.0 } else { missing as f64 / missing.saturating_add(self.read) as f64 }
    }
}

impl Footer {
    /// The sum over all sources.
    pub fn total(&self) -> Counters {
        self.sources.iter().fold(Counters::default(), |total, source| total.plus(source))
    }
}
