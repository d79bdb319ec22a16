//! The default method: how much slower than its peers a component is, and for how long.
//! In: the tables of a peer group. Out: [`crate::scores::MetricScores`], for windows of several lengths.
//! Always: no training, no threshold per metric; names, order and units change no verdict.
//!
//! 1. `ratio`: at every instant, the logarithm of each component's value over the median of its peers.
//! 2. `load`: remove the part of a latency that a different load explains.
//! 3. `shares`: percentages of rare events, such as lost segments, are first accumulated over time and per server.
//! 4. `half_means`: over a window, the mean of the slower half counts, because a slow disk is rarely slow all the time.
//! 5. `score`: the distance from the group, in units of the group's own spread plus a floor.
//! 6. `windows`: windows of many lengths (`window_lengths`) are evaluated at the same time. A stall shows within a
//!    minute, mild slowness within hours. Shorter windows, and more evaluated windows, need a higher score.
//!
//! `compared_metrics` lists which metrics are compared. `settings` holds the numbers.

mod compared_metrics;
mod detector;
mod half_means;
mod load;
mod ratio;
mod score;
mod settings;
mod shares;
mod window_lengths;
mod windows;

pub use settings::Settings;

use super::{Detector, Method, Peers, coarser};
use crate::model::component::Kind;
use crate::model::metric::Metric;
use crate::model::time::Span;

#[derive(Clone, Debug, Default)]
pub struct Laggard {
    pub settings: Settings,
    /// Evaluate only these metrics; empty: all.
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

    /// Long recordings are read every 15 s, as in the Intrepid paper (4.2), short ones at full resolution.
    fn step(&self, recorded: Span) -> Span {
        if self.settings.is_short() { recorded } else { coarser(self.settings.coarse_step, recorded) }
    }

    fn metrics(&self, kind: &Kind) -> Vec<&'static Metric> {
        compared_metrics::needed(kind, |metric| self.is_wanted(metric))
    }

    fn counted_length(&self, step: Span) -> Option<Span> {
        let block = self.settings.block(step);
        let shortest = self.settings.below(block, step).min().unwrap_or(block);
        Some(if self.settings.is_short() { shortest } else { block })
    }

    fn detector(&self, peers: &Peers) -> Box<dyn Detector> {
        let compared = compared_metrics::compared(&peers.kind, |metric| self.is_wanted(metric));
        Box::new(detector::GroupDetector::new(&self.settings, compared, peers))
    }
}
