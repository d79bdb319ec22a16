//! A detector made of one watch for each metric.

use std::sync::Arc;

use super::comparison::{Comparison, ComparisonWatch};
use super::congestion::{Congestion, CongestionWatch};
use crate::methods::papers::thresholds::Thresholds;
use crate::methods::{Detector, Peers};
use crate::model::metric::{Metric, MetricId};
use crate::scores::MetricScores;
use crate::tables::Table;

/// How each metric of a group is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ways {
    /// All metrics but `cwnd`.
    pub(crate) comparison: Comparison,
    /// `cwnd`; nothing: like all others.
    pub(crate) congestion: Option<Congestion>,
}

/// How one metric is looked at.
pub(crate) enum Way {
    Comparison(Comparison),
    Congestion(Congestion),
}

impl Ways {
    pub(crate) fn of(&self, metric: &Metric) -> Way {
        match self.congestion {
            Some(congestion) if metric.id == MetricId::Cwnd => Way::Congestion(congestion),
            _ => Way::Comparison(self.comparison),
        }
    }
}

enum Watch {
    Comparison(Box<ComparisonWatch>),
    Congestion(Box<CongestionWatch>),
}

/// Watches the metrics of a group as they are met.
pub(crate) struct GroupWatch {
    ways: Ways,
    peers: Peers,
    thresholds: Option<Arc<Thresholds>>,
    watches: Vec<(MetricId, Watch)>,
}

impl GroupWatch {
    pub(crate) fn new(ways: Ways, peers: &Peers, thresholds: Option<Arc<Thresholds>>) -> GroupWatch {
        GroupWatch { ways, peers: peers.clone(), thresholds, watches: Vec::new() }
    }

    fn begin(&self, metric: &Metric) -> Watch {
        let Peers { group, members, .. } = &self.peers;
        let limits = self.thresholds.as_ref().and_then(|known| known.limits(metric.id, group, members));
        match self.ways.of(metric) {
            Way::Comparison(way) => Watch::Comparison(way.watch(members.len(), limits).into()),
            Way::Congestion(way) => {
                let common = limits.and_then(|limits| limits.into_iter().reduce(f64::max));
                Watch::Congestion(way.watch(members.len(), common).into())
            }
        }
    }

    fn judge_one(&mut self, table: &Table) -> MetricScores {
        let id = table.metric.id;
        let known = self.watches.iter().position(|(metric, _)| *metric == id);
        let number = known.unwrap_or_else(|| {
            self.watches.push((id, self.begin(table.metric)));
            self.watches.len() - 1
        });
        match &mut self.watches[number].1 {
            Watch::Comparison(watch) => watch.evaluate(table),
            Watch::Congestion(watch) => watch.evaluate(table),
        }
    }
}

impl Detector for GroupWatch {
    fn evaluate(&mut self, tables: &[Table]) -> Vec<MetricScores> {
        tables.iter().map(|table| self.judge_one(table)).collect()
    }
}
