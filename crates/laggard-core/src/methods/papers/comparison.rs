//! Peer comparison by windows, as in both papers: smooth, cut, measure, compare with thresholds, filter.

use std::sync::Arc;

use laggard_kernels::rows::Rows;
use serde::{Deserialize, Serialize};

use crate::methods::papers::distances::bins::BinRule;
use crate::methods::papers::distances::partitions::Partitions;
use crate::methods::papers::distances::{Decision, Distances, Measure, is_evaluable};
use crate::methods::papers::filter::Filter;
use crate::methods::papers::steps::Steps;
use crate::methods::papers::untrained::UntrainedThreshold;
use crate::methods::papers::windows::Sliding;
use crate::methods::papers::windows::rolling::Rolling;
use crate::methods::papers::windows::smoothing::Smoothing;
use crate::model::cluster::FEWEST_PEERS;
use crate::scores::Window;
use crate::scores::{MemberScore, MetricScores, ScoredWindow};
use crate::tables::Table;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub smoothing: Smoothing,
    pub sliding: Sliding,
    pub measure: Measure,
    pub bins: BinRule,
    /// Samples added to each bin, for `kl`.
    pub empty_bin: f64,
    /// k: a component is faulty if it is anomalous in k of the last 2k - 1 windows.
    pub needed: usize,
    /// Members of the rotating partitions in which the group is compared. None: all members are compared.
    pub partition: Option<usize>,
    pub steps: Steps,
    /// Training counts faulty windows (k of 2k - 1); otherwise every anomalous window.
    pub is_training_filtered: bool,
    /// Scores are exact; otherwise they are only on the right side of the threshold.
    pub are_scores_exact: bool,
}

/// Compares the members of a group by one metric.
pub struct ComparisonDetector {
    rolling: Rolling,
    scorer: WindowScorer,
}

struct WindowScorer {
    comparison: Comparison,
    members: usize,
    distances: Box<dyn Distances>,
    limits: Limits,
    filter: Filter,
    last: Option<Window>,
    last_measured: Option<Window>,
    // Buffers.
    thresholds: Vec<f32>,
    decisions: Vec<Decision>,
    scores: Vec<f32>,
}

enum Limits {
    Trained(Arc<[f32]>),
    Untrained(UntrainedThreshold),
}

impl Comparison {
    pub(crate) fn distances(&self) -> Box<dyn Distances> {
        let distances = self.measure.distances(self.bins, self.empty_bin);
        match self.partition {
            Some(size) => Box::new(Partitions::new(size, distances)),
            None => distances,
        }
    }

    /// A threshold that is not below this is never exceeded. None: there is no such value.
    pub fn highest_score(&self) -> Option<f64> {
        self.measure.highest_score(self.bins, self.empty_bin, self.sliding.size)
    }

    pub(crate) fn rolling(&self, members: usize) -> Rolling {
        Rolling::new(self.smoothing, self.sliding, members)
    }

    /// For one metric of a group, with a threshold for each member, or untrained.
    pub fn detector(&self, members: usize, limits: Option<Vec<f64>>) -> ComparisonDetector {
        let limits = match limits {
            Some(limits) => Limits::Trained(limits.into_iter().map(|limit| limit as f32).collect()),
            None => Limits::Untrained(UntrainedThreshold::new(self.steps, members)),
        };
        let scorer = WindowScorer {
            comparison: *self,
            members,
            distances: self.distances(),
            limits,
            filter: Filter::new(self.needed, members),
            last: None,
            last_measured: None,
            thresholds: vec![f32::NAN; members],
            decisions: Vec::new(),
            scores: Vec::new(),
        };
        ComparisonDetector { rolling: self.rolling(members), scorer }
    }

    /// The number of columns of a window that are not in the previous one.
    pub(crate) fn fresh(&self, last: Option<Window>, next: Window) -> usize {
        let Sliding { size, shift } = self.sliding;
        if last.is_some_and(|last| self.follows(last, next)) { shift.min(size) } else { size }
    }

    /// The second window directly follows the first.
    pub(crate) fn follows(&self, last: Window, next: Window) -> bool {
        let step = last.length.micros() / self.sliding.size.max(1) as i64;
        (next.start - last.start).micros() == step * self.sliding.shift.max(1) as i64
    }
}

impl ComparisonDetector {
    pub fn evaluate(&mut self, table: &Table) -> MetricScores {
        let mut windows = Vec::new();
        let scorer = &mut self.scorer;
        self.rolling.advance(table, |window, rows| windows.push(scorer.score(window, rows)));
        MetricScores { metric: table.metric, windows }
    }
}

impl WindowScorer {
    fn score(&mut self, window: Window, rows: Rows) -> ScoredWindow {
        if self.last.is_some_and(|last| !self.comparison.follows(last, window)) {
            self.filter.clear();
        }
        self.last = Some(window);
        if self.members >= FEWEST_PEERS && is_evaluable(rows) {
            self.measure(window, rows);
            self.decide();
        } else {
            self.abstain();
        }
        ScoredWindow { window, scores: self.member_scores() }
    }

    fn measure(&mut self, window: Window, rows: Rows) {
        let fresh = self.comparison.fresh(self.last_measured.replace(window), window);
        self.distances.measure(rows, fresh);
    }

    fn decide(&mut self) {
        match &mut self.limits {
            Limits::Trained(limits) => self.thresholds.copy_from_slice(limits),
            Limits::Untrained(threshold) => {
                self.distances.deviations(&mut self.scores);
                self.thresholds.fill(threshold.of_window(&self.scores));
            }
        }
        self.distances.decide(&self.thresholds, &mut self.decisions);
        if self.comparison.are_scores_exact {
            self.distances.scores(&mut self.scores);
            let exact = self.decisions.iter_mut().zip(&self.scores);
            exact.for_each(|(decision, score)| decision.score = *score);
        }
    }

    fn abstain(&mut self) {
        self.decisions.clear();
        self.decisions.resize(self.members, Decision { score: f32::NAN, is_over: false });
    }

    fn member_scores(&mut self) -> Vec<MemberScore> {
        let filter = &mut self.filter;
        let decided = self.decisions.iter().zip(&self.thresholds).enumerate();
        let score = |(member, (decision, threshold)): (usize, (&Decision, &f32))| {
            let is_faulty = filter.push(member, decision.is_over);
            MemberScore {
                score: decision.score,
                threshold: *threshold,
                is_anomalous: decision.is_over,
                is_unlikely: is_faulty,
                is_faulty,
            }
        };
        decided.map(score).collect()
    }
}
