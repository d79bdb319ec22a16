//! The method of the FAST '10 paper: divergence of histograms, every 1 s, and congestion windows.
//!
//! Every number is the paper's; docs/methods.md gives the sections, and the decisions where the paper is silent.

use super::comparison::Comparison;
use super::congestion::Congestion;
use super::published::{Paper, Published};
use crate::methods::Reasoning;
use crate::methods::papers::distances::Measure;
use crate::methods::papers::distances::bins::BinRule;
use crate::methods::papers::distances::kl::EMPTY_BIN;
use crate::methods::papers::steps::Steps;
use crate::methods::papers::windows::Sliding;
use crate::methods::papers::windows::smoothing::Smoothing;
use crate::model::metric::MetricId;
use crate::model::time::Span;

pub type Testbench = Published<Fast10>;

#[derive(Clone, Copy, Debug)]
pub struct Fast10;

impl Paper for Fast10 {
    const NAME: &'static str = "testbench";
    const STEP: Span = Span::SECOND;
    /// The paper's checklist (10.2), in its order.
    const METRICS: &'static [MetricId] = {
        use MetricId::{Await, Cwnd, RdSec, Rxbyt, Txbyt, WrSec};
        &[RdSec, WrSec, Await, Rxbyt, Txbyt, Cwnd]
    };
    const COMPARISON: Comparison = Comparison {
        smoothing: Smoothing::of(5),
        sliding: Sliding { size: 64, shift: 32 },
        measure: Measure::Kl,
        bins: BinRule::Sturges,
        empty_bin: EMPTY_BIN,
        needed: 3,
        partition: None,
        steps: Steps::DOUBLED,
        is_training_filtered: true,
        are_scores_exact: false,
    };
    const CONGESTION: Option<Congestion> =
        Some(Congestion { smoothing: Smoothing::of(31), steps: Steps::PLAIN, untrained: 0.5 });
    const REASONING: Reasoning = Reasoning::Checklist;
    const TRAINING: Option<Span> = None;
}
