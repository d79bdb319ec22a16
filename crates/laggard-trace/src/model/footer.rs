//! Summary of a trace, written after its events.

use serde::{Deserialize, Serialize};

use super::header::{LayerTitle, Window};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footer {
    /// In the order of the header's sources.
    #[serde(default)]
    pub sources: Vec<Counters>,
    /// Layers with at least one event.
    #[serde(default)]
    pub layers: Vec<LayerTitle>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    #[serde(default)]
    pub events: u64,
    /// Set by the reader when the file has no footer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut_short: bool,
}

/// Counts of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    pub read: u64,
    /// Events that the tool reports as lost.
    #[serde(default)]
    pub lost: u64,
    /// Number of buffer overruns.
    #[serde(default)]
    pub overrun: u64,
    /// Records that are not understood.
    #[serde(default)]
    pub dropped: u64,
    /// Requests without an end.
    #[serde(default)]
    pub unmatched_begin: u64,
    /// Ends without a begin.
    #[serde(default)]
    pub unmatched_end: u64,
    /// Requests with an end before their begin.
    #[serde(default)]
    pub negative: u64,
    /// Records with an earlier timestamp than a record before them.
    #[serde(default)]
    pub out_of_order: u64,
}

impl Counters {
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

    /// The fraction of events that are missing.
    pub fn loss(&self) -> f64 {
        let missing = self.lost.saturating_add(self.dropped);
        if missing == 0 { 0.0 } else { missing as f64 / missing.saturating_add(self.read) as f64 }
    }
}

impl Footer {
    pub fn total(&self) -> Counters {
        self.sources.iter().fold(Counters::default(), |total, source| total.plus(source))
    }
}
