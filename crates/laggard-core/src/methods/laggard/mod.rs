//! The default method: how much slower than its peers a component is, and for how long.
//! In: the tables of a peer group. Out: [`crate::scores::MetricScores`], for windows of several lengths.
//! Always: no threshold per metric; names, order and units change no verdict.
//!
//! 1. `ratio`: at every instant, the logarithm of each component's value over the median of its peers.
//! 2. `load`: remove the part of a latency that a different load explains.
//!    `work`: the busy time of devices is compared for the same work.
//! 3. `shares`: percentages of rare events, such as lost segments, are first accumulated over time and per server.
//! 4. `half_means`: over a window, the mean of the slower half counts, because a slow disk is rarely slow all the time.
//!    `period_means`: latencies over whole minutes are compared as well, because a stall shows in few samples.
//! 5. `score`: the distance from the group, in units of a spread plus a floor. `pool`: the spread is that of all groups
//!    of the kind, over time.
//! 6. `windows`: windows of many lengths (`window_lengths`) are evaluated at the same time. A stall shows within a
//!    minute, mild slowness within hours. Shorter windows, and more evaluated windows, need a higher score.
//! 7. `idle_runs`: a device without a request while all its peers work is found from begin to end.
//!
//! Training is optional: `learning` finds the usual ratio of each component, with which ratios are then compared.
//!
//! `compared_metrics` lists which metrics are compared. `settings` holds the numbers.

mod compared_metrics;
mod detector;
mod evaluator;
mod half_means;
mod idle_runs;
pub mod learning;
mod load;
mod period_means;
mod pool;
mod ratio;
mod score;
mod settings;
mod shares;
mod window_lengths;
mod windows;
mod work;

pub use settings::Settings;

use std::sync::Arc;

use evaluator::{LaggardEvaluator, SingleGroup};

use super::usual_ratios::UsualRatios;
use super::{Detector, Evaluator, Method, Peers, coarser};
use crate::model::component::Kind;
use crate::model::metric::Metric;
use crate::model::time::Span;

#[derive(Clone, Debug, Default)]
pub struct Laggard {
    pub settings: Settings,
    /// Evaluate only these metrics; empty: all.
    pub only: Vec<&'static Metric>,
    /// Learnt in training. Without it, all components of a group are alike.
    pub usual: Option<Arc<UsualRatios>>,
}

impl Laggard {
    /// The metrics that are compared, without those that are only needed to compute them.
    pub fn compared(kind: &Kind) -> Vec<&'static Metric> {
        compared_metrics::compared(kind, |_| true).iter().map(|compared| compared.metric.metric()).collect()
    }

    fn is_wanted(&self, metric: &'static Metric) -> bool {
        self.only.is_empty() || self.only.contains(&metric)
    }
}

/// A shorter recording has too few fine steps.
const FEWEST_FINE_STEPS: i64 = 6;

impl Method for Laggard {
    fn name(&self) -> &'static str {
        "laggard"
    }

    /// Long recordings are read every 15 s, as in the Intrepid paper (4.2), short ones more finely, and tiny ones as they are.
    fn step(&self, recorded: Span) -> Span {
        let Settings { fine_step, coarse_step, span, .. } = self.settings;
        if span.is_some_and(|span| span < fine_step * FEWEST_FINE_STEPS) {
            return recorded;
        }
        coarser(if self.settings.is_short() { fine_step } else { coarse_step }, recorded)
    }

    fn metrics(&self, kind: &Kind) -> Vec<&'static Metric> {
        compared_metrics::needed(kind, |metric| self.is_wanted(metric))
    }

    fn counted_length(&self, step: Span) -> Option<Span> {
        let block = self.settings.block(step);
        let shortest = self.settings.below(block, step).min().unwrap_or(block);
        Some(if self.settings.is_short() { shortest } else { block })
    }

    fn usual_ratios(&self) -> Option<&UsualRatios> {
        self.usual.as_deref()
    }

    fn detector(&self, peers: &Peers) -> Box<dyn Detector> {
        Box::new(SingleGroup(LaggardEvaluator::new(self, std::slice::from_ref(peers))))
    }

    fn evaluator(&self, groups: &[Peers]) -> Box<dyn Evaluator> {
        Box::new(LaggardEvaluator::new(self, groups))
    }
}
