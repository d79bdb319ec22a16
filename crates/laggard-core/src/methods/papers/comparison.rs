//! Peer comparison by windows, as both papers do it: smooth, cut, measure, hold against thresholds, filter.

use std::sync::Arc;

use laggard_kernels::rows::Rows;
use serde::{Deserialize, Serialize};

use crate::methods::papers::distances::bins::BinRule;
use crate::methods::papers::distances::{Distances, Measure, Settled, is_judgeable};
use crate::methods::papers::filter::Filter;
use crate::methods::papers::steps::Steps;
use crate::methods::papers::untrained::Yardstick;
use crate::methods::papers::windows::Sliding;
use crate::methods::papers::windows::rolling::Rolling;
use crate::methods::papers::windows::smoothing::Smoothing;
use crate::model::cluster::FEWEST_PEERS;
use crate::scores::Window;
use crate::scores::{MemberScore, MetricScores, ScoredWindow};
use crate::tables::Table;

/// How components are compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The moving average.
    pub smoothing: Smoothing,
    /// The windows.
    pub sliding: Sliding,
    /// The distance of two components.
    pub measure: Measure,
    /// The bins of histograms.
    pub bins: BinRule,
    /// Samples that each bin counts in addition, for `kl`.
    pub empty_bin: f64,
    /// k: faulty is who was anomalous in k of the last 2k - 1 windows.
    pub needed: usize,
    /// How thresholds are found.
    pub steps: Steps,
    /// Whether training looks at faulty windows (k of 2k - 1), or at every anomalous one.
    pub is_training_filtered: bool,
    /// Whether scores are exact for everyone, or only as close as the verdict needs them.
    pub are_scores_exact: bool,
}

/// Compares the members of a group by one metric.
pub struct ComparisonWatch {
    rolling: Rolling,
    judge: WindowJudge,
}

/// Judges windows as they come.
struct WindowJudge {
    comparison: Comparison,
    members: usize,
    distances: Box<dyn Distances>,
    limits: Limits,
    filter: Filter,
    last: Option<Window>,
    last_looked_at: Option<Window>,
    /// Memory that is used again and again.
    thresholds: Vec<f32>,
    settled: Vec<Settled>,
    scores: Vec<f32>,
}

/// What scores are held against.
enum Limits {
    Trained(Arc<[f32]>),
    Untrained(Yardstick),
}

impl Comparison {
    /// Ready to look at windows.
    pub(crate) fn distances(&self) -> Box<dyn Distances> {
        self.measure.distances(self.bins, self.empty_bin)
    }

    /// The windows of a group of so many.
    pub(crate) fn rolling(&self, members: usize) -> Rolling {
        Rolling::new(self.smoothing, self.sliding, members)
    }

    /// Watches one metric of a group, with a threshold for each member, or untrained.
    pub fn watch(&self, members: usize, limits: Option<Vec<f64>>) -> ComparisonWatch {
        let limits = match limits {
            Some(limits) => Limits::Trained(limits.into_iter().map(|limit| limit as f32).collect()),
            None => Limits::Untrained(Yardstick::new(self.steps, members)),
        };
        let judge = WindowJudge {
            comparison: *self,
            members,
            distances: self.distances(),
            limits,
            filter: Filter::new(self.needed, members),
            last: None,
            last_looked_at: None,
            thresholds: vec![f32::NAN; members],
            settled: Vec::new(),
            scores: Vec::new(),
        };
        ComparisonWatch { rolling: self.rolling(members), judge }
    }

    /// How many columns of a window are not those that the last one ended with.
    pub(crate) fn fresh(&self, last: Option<Window>, next: Window) -> usize {
        let Sliding { size, shift } = self.sliding;
        if last.is_some_and(|last| self.follows(last, next)) { shift.min(size) } else { size }
    }

    /// Whether a window comes right after another, given where the two begin.
    pub(crate) fn follows(&self, last: Window, next: Window) -> bool {
        let step = last.length.micros() / self.sliding.size.max(1) as i64;
        (next.start - last.start).micros() == step * self.sliding.shift.max(1) as i64
    }
}

impl ComparisonWatch {
    /// Judges the next stretch.
    pub fn evaluate(&mut self, table: &Table) -> MetricScores {
        let mut windows = Vec::new();
        let judge = &mut self.judge;
        self.rolling.advance(table, |window, rows| windows.push(judge.evaluate(window, rows)));
        MetricScores { metric: table.metric, windows }
    }
}

impl WindowJudge {
    fn evaluate(&mut self, window: Window, rows: Rows) -> ScoredWindow {
        if self.last.is_some_and(|last| !self.comparison.follows(last, window)) {
            self.filter.clear();
        }
        self.last = Some(window);
        if self.members >= FEWEST_PEERS && is_judgeable(rows) {
            self.look(window, rows);
            self.settle();
        } else {
            self.abstain();
        }
        ScoredWindow { window, scores: self.verdicts() }
    }

    fn look(&mut self, window: Window, rows: Rows) {
        let fresh = self.comparison.fresh(self.last_looked_at.replace(window), window);
        self.distances.look(rows, fresh);
    }

    fn settle(&mut self) {
        match &mut self.limits {
            Limits::Trained(limits) => self.thresholds.copy_from_slice(limits),
            Limits::Untrained(yardstick) => {
                self.distances.deviations(&mut self.scores);
                self.thresholds.fill(yardstick.threshold(&self.scores));
            }
        }
        self.distances.settle(&self.thresholds, &mut self.settled);
        if self.comparison.are_scores_exact {
            self.distances.scores(&mut self.scores);
            let exact = self.settled.iter_mut().zip(&self.scores);
            exact.for_each(|(settled, score)| settled.score = *score);
        }
    }

    fn abstain(&mut self) {
        self.settled.clear();
        self.settled.resize(self.members, Settled { score: f32::NAN, is_over: false });
    }

    fn verdicts(&mut self) -> Vec<MemberScore> {
        let filter = &mut self.filter;
        let judged = self.settled.iter().zip(&self.thresholds).enumerate();
        let verdict = |(member, (settled, threshold)): (usize, (&Settled, &f32))| MemberScore {
            score: settled.score,
            threshold: *threshold,
            is_anomalous: settled.is_over,
            is_faulty: filter.push(member, settled.is_over),
        };
        judged.map(verdict).collect()
    }
}
