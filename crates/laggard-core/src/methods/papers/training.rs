//! Learns thresholds from fault-free recordings.

use std::collections::BTreeMap;

use laggard_kernels::rows::Rows;

use super::comparison::Comparison;
use super::congestion::{self, Congestion};
use super::detector::{Comparisons, MetricComparison};
use crate::methods::Peers;
use crate::methods::papers::distances::{Distances, is_evaluable};
use crate::methods::papers::steps::Highest;
use crate::methods::papers::thresholds::GroupThresholds;
use crate::methods::papers::windows::rolling::Rolling;
use crate::model::cluster::FEWEST_PEERS;
use crate::model::metric::{Metric, MetricId};
use crate::scores::Window;
use crate::tables::Table;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrainingError {
    #[error(
        "group {group}, {metric}: the recording has {windows} windows, training needs at least {needed}; \
         use a longer fault-free recording"
    )]
    Windows { group: String, metric: MetricId, windows: usize, needed: usize },
    #[error(
        "group {group}, {metric}: {idle} of {windows} windows contain only zeros, training needs at least {needed} others; \
         train on a period with this kind of work"
    )]
    Idle { group: String, metric: MetricId, windows: usize, idle: usize, needed: usize },
    #[error(
        "group {group}, {metric}: {component} has samples for {present} of {expected} instants, training needs at \
         least half; train on a period with samples of it, or ignore it in the cluster file"
    )]
    Samples { group: String, metric: MetricId, component: String, present: usize, expected: usize },
}

impl TrainingError {
    pub fn metric(&self) -> MetricId {
        match self {
            TrainingError::Windows { metric, .. }
            | TrainingError::Idle { metric, .. }
            | TrainingError::Samples { metric, .. } => *metric,
        }
    }
}

/// Learns the thresholds of a peer group.
pub struct Trainer {
    comparisons: Comparisons,
    peers: Peers,
    metrics: Vec<MetricTrainer>,
}

struct MetricTrainer {
    metric: &'static Metric,
    rolling: Rolling,
    highest: HighestScores,
    windows: usize,
    /// Windows that contain only zeros.
    idle: usize,
    present: Vec<usize>,
    expected: usize,
}

enum HighestScores {
    /// Each window alone: only the highest score counts, so most need not be computed.
    Unfiltered {
        comparison: Comparison,
        distances: Box<dyn Distances>,
        highest: Vec<f32>,
        last: Option<Window>,
    },
    Filtered {
        comparison: Comparison,
        distances: Box<dyn Distances>,
        highest: Vec<Highest>,
        last: Option<Window>,
    },
    Congestion {
        congestion: Congestion,
        highest: f32,
    },
}

impl Trainer {
    pub(crate) fn new(comparisons: Comparisons, peers: &Peers) -> Trainer {
        Trainer { comparisons, peers: peers.clone(), metrics: Vec::new() }
    }

    /// Adds one table for each metric, with a row for each member. Several recordings may be added; no window spans two
    /// of them.
    pub fn take(&mut self, tables: &[Table]) {
        for table in tables {
            let number = self.of_metric(table.metric);
            self.metrics[number].take(table);
        }
    }

    fn of_metric(&mut self, metric: &'static Metric) -> usize {
        let known = self.metrics.iter().position(|known| known.metric == metric);
        known.unwrap_or_else(|| {
            self.metrics.push(MetricTrainer::new(
                self.comparisons.of(metric),
                metric,
                self.peers.members.len(),
            ));
            self.metrics.len() - 1
        })
    }

    /// The thresholds of each metric. Empty for a group that is too small to be evaluated.
    pub fn finish(self) -> Vec<Result<GroupThresholds, TrainingError>> {
        if self.peers.members.len() < FEWEST_PEERS {
            return Vec::new();
        }
        self.metrics.iter().map(|metric| metric.finish(&self.peers)).collect()
    }
}

impl MetricTrainer {
    fn new(comparison: MetricComparison, metric: &'static Metric, members: usize) -> MetricTrainer {
        let (rolling, highest) = match comparison {
            MetricComparison::Comparison(comparison) => {
                (comparison.rolling(members), HighestScores::new(comparison, members))
            }
            MetricComparison::Congestion(congestion) => {
                (congestion.rolling(members), HighestScores::Congestion { congestion, highest: f32::NAN })
            }
        };
        MetricTrainer {
            metric,
            rolling,
            highest,
            windows: 0,
            idle: 0,
            present: vec![0; members],
            expected: 0,
        }
    }

    fn take(&mut self, table: &Table) {
        if table.components.len() != self.present.len() {
            return;
        }
        self.expected += table.grid.len;
        for (member, present) in self.present.iter_mut().enumerate() {
            *present += table.row(member).iter().filter(|value| !value.is_nan()).count();
        }
        let (highest, windows, idle) = (&mut self.highest, &mut self.windows, &mut self.idle);
        self.rolling.advance(table, |window, rows| {
            let is_used = highest.take(window, rows);
            *windows += usize::from(is_used);
            *idle += usize::from(is_used && is_idle(rows));
        });
    }

    fn finish(&self, peers: &Peers) -> Result<GroupThresholds, TrainingError> {
        self.check_windows(peers)?;
        let (common, components) = match &self.highest {
            HighestScores::Congestion { congestion, highest } => {
                (Some(congestion.steps.threshold(f64::from(*highest))), BTreeMap::new())
            }
            highest => {
                self.check_samples(peers)?;
                let names = peers.members.iter().map(|name| name.to_string());
                (None, names.zip(highest.thresholds()).collect())
            }
        };
        Ok(GroupThresholds {
            name: peers.group.clone(),
            kind: peers.kind.clone(),
            metric: self.metric.id,
            windows: self.windows,
            common,
            components,
        })
    }

    fn check_windows(&self, peers: &Peers) -> Result<(), TrainingError> {
        let (group, metric) = (peers.group.clone(), self.metric.id);
        let (windows, needed) = (self.windows, self.highest.windows_needed());
        let idle = self.idle;
        if windows < needed {
            Err(TrainingError::Windows { group, metric, windows, needed })
        } else if windows - idle < needed {
            Err(TrainingError::Idle { group, metric, windows, idle, needed })
        } else {
            Ok(())
        }
    }

    fn check_samples(&self, peers: &Peers) -> Result<(), TrainingError> {
        let mut absent =
            peers.members.iter().zip(&self.present).filter(|(_, present)| 2 * **present < self.expected);
        match absent.next() {
            None => Ok(()),
            Some((component, present)) => Err(TrainingError::Samples {
                group: peers.group.clone(),
                metric: self.metric.id,
                component: component.to_string(),
                present: *present,
                expected: self.expected,
            }),
        }
    }
}

/// Idle windows teach nothing about how members differ at work.
fn is_idle(rows: Rows) -> bool {
    rows.iter().flatten().all(|value| value.is_nan() || *value == 0.0)
}

impl HighestScores {
    fn new(comparison: Comparison, members: usize) -> HighestScores {
        let distances = comparison.distances();
        if comparison.is_training_filtered {
            let highest = vec![Highest::new(comparison.needed); members];
            return HighestScores::Filtered { comparison, distances, highest, last: None };
        }
        HighestScores::Unfiltered { comparison, distances, highest: vec![f32::NAN; members], last: None }
    }

    fn windows_needed(&self) -> usize {
        match self {
            HighestScores::Unfiltered { comparison, .. } | HighestScores::Filtered { comparison, .. } => {
                2 * comparison.needed.max(1) - 1
            }
            HighestScores::Congestion { .. } => 1,
        }
    }

    /// Returns whether the window was used.
    fn take(&mut self, window: Window, rows: Rows) -> bool {
        if rows.count() < FEWEST_PEERS {
            return false;
        }
        match self {
            HighestScores::Congestion { highest, .. } => {
                let scores = congestion::scores(rows);
                *highest = scores.iter().copied().fold(*highest, f32::max);
                scores.iter().any(|score| !score.is_nan())
            }
            _ if !is_evaluable(rows) => false,
            HighestScores::Unfiltered { comparison, distances, highest, last } => {
                distances.measure(rows, comparison.fresh(last.replace(window), window));
                distances.raise(highest);
                true
            }
            HighestScores::Filtered { comparison, distances, highest, last } => {
                let before = last.replace(window);
                if before.is_some_and(|before| !comparison.follows(before, window)) {
                    highest.iter_mut().for_each(Highest::gap);
                }
                distances.measure(rows, comparison.fresh(before, window));
                let mut scores = Vec::new();
                distances.scores(&mut scores);
                highest.iter_mut().zip(scores).for_each(|(highest, score)| highest.push(score));
                true
            }
        }
    }

    fn thresholds(&self) -> Vec<f64> {
        match self {
            HighestScores::Unfiltered { comparison, highest, .. } => {
                highest.iter().map(|&score| comparison.steps.threshold(f64::from(score))).collect()
            }
            HighestScores::Filtered { comparison, highest, .. } => {
                highest.iter().map(|h| comparison.steps.threshold(f64::from(h.get()))).collect()
            }
            HighestScores::Congestion { .. } => Vec::new(),
        }
    }
}
