//! Learns the usual ratio of each component to its peers.
//! In: the tables of all groups, as for an evaluation. Out: [`MetricRatios`]. Always: the ratios are those that the method
//! compares, with the part removed that load explains; a fault of less than half of the time changes no usual ratio.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Laggard;
use super::compared_metrics::{ComparedMetric, ValueKind, compared};
use super::detector::{ComparedWindow, GroupDetector};
use super::score::median;
use crate::methods::usual_ratios::{GroupRatios, MetricRatios, UsualRatio};
use crate::methods::{Detector, Evaluator, GroupTables, Method, Peers};
use crate::model::component::Kind;
use crate::model::metric::{Harm, Metric, MetricId};
use crate::model::time::Span;
use crate::scores::MetricScores;

/// Fewer windows do not show how much a ratio varies. One ends every twenty minutes.
const FEWEST_WINDOWS: usize = 4;
/// A recording of this length has enough windows.
pub const SHORTEST_TRAINING: Span = Span::from_seconds(2 * 3600);

/// A usual difference below this share of the smallest one worth reporting is what peers differ by anyway.
const CLEAR_SHARE: f64 = 0.5;
/// The deviation of a normal distribution whose median distance from the middle is 1.
const DEVIATION: f64 = 1.4826;

/// The method laggard, which learns instead of giving verdicts.
pub struct UsualLearner<'a> {
    method: &'a Laggard,
    learnt: Arc<Mutex<Learnt>>,
}

/// By metric and component.
type Learnt = BTreeMap<MetricId, BTreeMap<String, UsualRatio>>;

/// The ratios of the members of a group in one metric, window by window.
struct MetricHistory {
    compared: ComparedMetric,
    /// The time between the compared values.
    step: Span,
    windows: Vec<Vec<f32>>,
}

impl<'a> UsualLearner<'a> {
    pub fn new(method: &'a Laggard) -> UsualLearner<'a> {
        UsualLearner { method, learnt: Arc::default() }
    }

    /// The usual ratios, once the evaluation is finished. Empty: nothing was recorded for long enough.
    pub fn learnt(self) -> Vec<MetricRatios> {
        let learnt = std::mem::take(&mut *self.learnt.lock().unwrap_or_else(PoisonError::into_inner));
        learnt.into_iter().map(|(name, components)| MetricRatios { name, components }).collect()
    }
}

impl Method for UsualLearner<'_> {
    fn name(&self) -> &'static str {
        self.method.name()
    }

    fn step(&self, recorded: Span) -> Span {
        self.method.step(recorded)
    }

    fn metrics(&self, kind: &Kind) -> Vec<&'static Metric> {
        self.method.metrics(kind)
    }

    fn detector(&self, peers: &Peers) -> Box<dyn Detector> {
        self.method.detector(peers)
    }

    fn evaluator(&self, groups: &[Peers]) -> Box<dyn Evaluator> {
        let learner = |peers: &Peers| {
            let compared = compared(&peers.kind, |metric| self.method.is_wanted(metric));
            let detector = GroupDetector::new(&self.method.settings, compared, peers, GroupRatios::new());
            GroupLearner { detector, members: peers.members.clone(), histories: BTreeMap::new() }
        };
        Box::new(Learners { groups: groups.iter().map(learner).collect(), learnt: self.learnt.clone() })
    }
}

struct Learners {
    groups: Vec<GroupLearner>,
    learnt: Arc<Mutex<Learnt>>,
}

struct GroupLearner {
    detector: GroupDetector,
    members: Vec<Arc<str>>,
    histories: BTreeMap<MetricId, MetricHistory>,
}

impl Evaluator for Learners {
    fn evaluate(&mut self, groups: Vec<GroupTables>) -> Vec<Vec<MetricScores>> {
        for (learner, tables) in self.groups.iter_mut().zip(&groups) {
            let instants = tables.tables.first().map_or(0, |table| table.grid.len);
            let ended = learner.detector.evaluate(tables, 0..instants);
            learner.take(ended);
        }
        vec![Vec::new(); groups.len()]
    }

    fn finish(&mut self) -> Vec<Vec<MetricScores>> {
        let mut learnt = self.learnt.lock().unwrap_or_else(PoisonError::into_inner);
        for learner in &mut self.groups {
            let ended = learner.detector.finish();
            learner.take(ended);
            for (metric, history) in &learner.histories {
                let usual = learner.members.iter().enumerate();
                let usual =
                    usual.filter_map(|(member, name)| Some((name.to_string(), history.usual(member)?)));
                learnt.entry(*metric).or_default().extend(usual);
            }
        }
        learnt.retain(|_, components| !components.is_empty());
        vec![Vec::new(); self.groups.len()]
    }
}

impl GroupLearner {
    /// Only decisive metrics need it: no component is a suspect by the others. Latencies over minutes and over five minutes
    /// have one usual ratio: that of the minutes, which come first. Where both directions are harm, one of them says
    /// everything.
    fn take(&mut self, ended: Vec<ComparedWindow>) {
        let is_ratio = |window: &ComparedWindow| {
            window.compared.is_decisive && window.compared.value != ValueKind::Presence
        };
        for ComparedWindow { compared, step, sign, ratios, .. } in ended.into_iter().filter(is_ratio) {
            let is_again = compared.metric.metric().harm == Harm::Either && sign < 0.0;
            let Some(ratios) = ratios.filter(|_| !is_again) else { continue };
            let new = || MetricHistory { compared, step, windows: Vec::new() };
            let history = self.histories.entry(compared.metric).or_insert_with(new);
            if history.step == step {
                history.windows.push(ratios);
            }
        }
    }
}

impl MetricHistory {
    /// None for a member that was compared in too few windows.
    fn usual(&self, member: usize) -> Option<UsualRatio> {
        let ratios = self.windows.iter().map(|ratios| f64::from(ratios[member]));
        let ratios: Vec<f64> = ratios.filter(|ratio| !ratio.is_nan()).collect();
        if ratios.len() < FEWEST_WINDOWS || 2 * ratios.len() < self.windows.len() {
            return None;
        }
        let middle = median(&ratios);
        let distances: Vec<f64> = ratios.iter().map(|ratio| (ratio - middle).abs()).collect();
        let variation = DEVIATION * median(&distances);
        let is_clear = middle.abs() >= CLEAR_SHARE * self.compared.least && middle.abs() > variation;
        Some(UsualRatio {
            ratio: if is_clear { rounded(middle.exp()) } else { 1.0 },
            variation: rounded(variation),
        })
    }
}

fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
