//! The default method: how much slower than its peers, for how long.
//!
//! At every instant each component is compared with the median of its peers as a logarithm of a ratio
//! (`ratio`), so that neither unit nor level matters; what a different load explains is taken out (`load`).
//! What is rare, such as lost segments, is gathered over some time and over all that belongs to one server first
//! (`shares`).
//! Over a window the slower half of these is what counts (`half`): a limping disk is seldom slow all the time.
//! Its distance from the group, in units of the group's own spread and a floor that stands for what is worth a
//! person's time, is the score (`score`). Windows of many lengths are judged at once (`tiles`): a stall shows
//! within a minute, a mild limp within hours. To be called faulty takes more the shorter a window is, and more
//! the more often was looked. Absence and idleness are compared as well (`channel`).

mod channel;
mod detector;
mod half;
mod load;
mod ratio;
mod score;
mod settings;
mod shares;
mod tiles;

pub use settings::Settings;

use super::{Detector, Method, Peers, coarser};
use crate::model::component::Kind;
use crate::model::metric::Metric;
use crate::model::time::Span;

/// The default method.
#[derive(Clone, Debug, Default)]
pub struct Laggard {
    /// Its numbers; nobody needs to change them.
    pub settings: Settings,
    /// What to look at, if not at everything.
    pub only: Vec<&'static Metric>,
}

impl Laggard {
    fn is_wanted(&self, metric: &'static Metric) -> bool {
        self.only.is_empty() || self.only.contains(&metric)
    }
}

impl Method for Laggard {
    fn name(&self) -> &'static str {
        "laggard"
    }

    /// Long recordings are looked at every 15 s, as the Intrepid paper did (4.2); short ones as they are.
    fn step(&self, recorded: Span) -> Span {
        if self.settings.is_short() { recorded } else { coarser(self.settings.coarse_step, recorded) }
    }

    fn metrics(&self, kind: &Kind) -> Vec<&'static Metric> {
        channel::read(kind, |metric| self.is_wanted(metric))
    }

    fn beat(&self, step: Span) -> Option<Span> {
        let block = self.settings.block(step);
        let shortest = self.settings.below(block, step).min().unwrap_or(block);
        Some(if self.settings.is_short() { shortest } else { block })
    }

    fn watch(&self, peers: &Peers) -> Box<dyn Detector> {
        let judged = channel::judged(&peers.kind, |metric| self.is_wanted(metric));
        Box::new(detector::Watch::new(&self.settings, judged, peers))
    }
}
