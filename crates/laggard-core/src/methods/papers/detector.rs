//! Evaluates a group with one comparison for each metric.

use std::sync::Arc;

use super::comparison::{Comparison, ComparisonDetector};
use super::congestion::{Congestion, CongestionDetector};
use crate::methods::papers::thresholds::Thresholds;
use crate::methods::{Detector, Peers};
use crate::model::metric::{Metric, MetricId};
use crate::scores::MetricScores;
use crate::tables::Table;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Comparisons {
    pub(crate) comparison: Comparison,
    /// For `cwnd`. None: like all other metrics.
    pub(crate) congestion: Option<Congestion>,
}

/// The comparison of one metric.
pub(crate) enum MetricComparison {
    Comparison(Comparison),
    Congestion(Congestion),
}

impl Comparisons {
    pub(crate) fn of(&self, metric: &Metric) -> MetricComparison {
        match self.congestion {
            Some(congestion) if metric.id == MetricId::Cwnd => MetricComparison::Congestion(congestion),
            _ => MetricComparison::Comparison(self.comparison),
        }
    }
}

enum MetricDetector {
    Comparison(Box<ComparisonDetector>),
    Congestion(Box<CongestionDetector>),
}

pub(crate) struct GroupDetector {
    comparisons: Comparisons,
    peers: Peers,
    thresholds: Option<Arc<Thresholds>>,
    detectors: Vec<(MetricId, MetricDetector)>,
}

impl GroupDetector {
    pub(crate) fn new(
        comparisons: Comparisons,
        peers: &Peers,
        thresholds: Option<Arc<Thresholds>>,
    ) -> GroupDetector {
        GroupDetector { comparisons, peers: peers.clone(), thresholds, detectors: Vec::new() }
    }

    fn begin(&self, metric: &Metric) -> MetricDetector {
        let Peers { group, members, .. } = &self.peers;
        let limits = self.thresholds.as_ref().and_then(|known| known.limits(metric.id, group, members));
        match self.comparisons.of(metric) {
            MetricComparison::Comparison(comparison) => {
                MetricDetector::Comparison(comparison.detector(members.len(), limits).into())
            }
            MetricComparison::Congestion(congestion) => {
                let common = limits.and_then(|limits| limits.into_iter().reduce(f64::max));
                MetricDetector::Congestion(congestion.detector(members.len(), common).into())
            }
        }
    }

    fn evaluate_one(&mut self, table: &Table) -> MetricScores {
        let id = table.metric.id;
        let known = self.detectors.iter().position(|(metric, _)| *metric == id);
        let number = known.unwrap_or_else(|| {
            self.detectors.push((id, self.begin(table.metric)));
            self.detectors.len() - 1
        });
        match &mut self.detectors[number].1 {
            MetricDetector::Comparison(detector) => detector.evaluate(table),
            MetricDetector::Congestion(detector) => detector.evaluate(table),
        }
    }
}

impl Detector for GroupDetector {
    fn evaluate(&mut self, tables: &[Table]) -> Vec<MetricScores> {
        tables.iter().map(|table| self.evaluate_one(table)).collect()
    }
}
