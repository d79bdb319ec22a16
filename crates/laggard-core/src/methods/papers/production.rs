//! The method of the Intrepid paper (474 days of production): cumulative histograms of latency, every 15 s.
//!
//! Every number is the paper's; docs/methods.md gives the sections, and the decisions where the paper is silent.

use super::comparison::Comparison;
use super::congestion::Congestion;
use super::published::{Paper, Published};
use crate::methods::Reasoning;
use crate::methods::papers::distances::Measure;
use crate::methods::papers::distances::bins::{BinRule, MOST_BINS};
use crate::methods::papers::distances::kl::EMPTY_BIN;
use crate::methods::papers::steps::Steps;
use crate::methods::papers::windows::Sliding;
use crate::methods::papers::windows::smoothing::Smoothing;
use crate::model::metric::MetricId;
use crate::model::time::Span;

pub type Production = Published<Intrepid>;

#[derive(Clone, Copy, Debug)]
pub struct Intrepid;

impl Paper for Intrepid {
    const NAME: &'static str = "production";
    const STEP: Span = Span::from_seconds(15);
    const METRICS: &'static [MetricId] = &[MetricId::Await];
    const COMPARISON: Comparison = Comparison {
        smoothing: Smoothing::of(15),
        sliding: Sliding { size: 60, shift: 30 },
        measure: Measure::Cdf,
        bins: BinRule::FreedmanDiaconis { most: MOST_BINS },
        empty_bin: EMPTY_BIN,
        needed: 3,
        partition: None,
        steps: Steps::DOUBLED,
        is_training_filtered: false,
        are_scores_exact: false,
    };
    const CONGESTION: Option<Congestion> = None;
    const REASONING: Reasoning = Reasoning::Weight;
    /// A day (4.2.1). A day's recording is a little shorter than 24 hours.
    const TRAINING: Option<Span> = Some(Span::from_seconds(23 * 3600));
}
