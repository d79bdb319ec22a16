//! The common part of both papers' methods: everything except their numbers.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use super::comparison::Comparison;
use super::congestion::Congestion;
use super::detector::{Comparisons, GroupDetector};
use super::training::Trainer;
use crate::methods::papers::distances::Measure;
use crate::methods::papers::distances::bins::BinRule;
use crate::methods::papers::thresholds::{Thresholds, ThresholdsError};
use crate::methods::{Detector, Method, Peers, coarser};
use crate::model::component::Kind;
use crate::model::metric::{Metric, MetricId};
use crate::model::schema::Schema;
use crate::model::time::Span;

/// The numbers of a paper.
pub trait Paper: Clone + Debug + Send + Sync {
    const NAME: &'static str;
    const STEP: Span;
    const METRICS: &'static [MetricId];
    const COMPARISON: Comparison;
    /// For `cwnd`. None: like all other metrics.
    const CONGESTION: Option<Congestion>;
}

/// The method of a paper.
#[derive(Clone, Debug)]
pub struct Published<P: Paper> {
    pub step: Span,
    pub comparison: Comparison,
    metrics: Vec<&'static Metric>,
    thresholds: Option<Arc<Thresholds>>,
    paper: PhantomData<P>,
}

impl<P: Paper> Default for Published<P> {
    fn default() -> Published<P> {
        Published {
            step: P::STEP,
            comparison: P::COMPARISON,
            metrics: P::METRICS.iter().map(|id| id.metric()).collect(),
            thresholds: None,
            paper: PhantomData,
        }
    }
}

impl<P: Paper> Published<P> {
    /// `kl` comes with Sturges' bins, as in its paper.
    pub fn with_measure(mut self, measure: Measure) -> Published<P> {
        self.comparison.measure = measure;
        if measure == Measure::Kl {
            self.comparison.bins = BinRule::Sturges;
        }
        self
    }

    /// Evaluates other metrics than the paper's.
    pub fn with_metrics(mut self, metrics: Vec<&'static Metric>) -> Published<P> {
        self.metrics = metrics;
        self
    }

    /// Computes exact scores of all components, at a higher cost.
    pub fn with_exact_scores(mut self) -> Published<P> {
        self.comparison.are_scores_exact = true;
        self
    }

    /// Fails if the thresholds were trained for another method or measure.
    pub fn with_thresholds(mut self, thresholds: Thresholds) -> Result<Published<P>, ThresholdsError> {
        thresholds.check(P::NAME, self.comparison.measure)?;
        self.thresholds = Some(Arc::new(thresholds));
        Ok(self)
    }

    /// None: thresholds follow from the group's own spread, and the caller should print a warning.
    pub fn thresholds(&self) -> Option<&Thresholds> {
        self.thresholds.as_deref()
    }

    pub fn train(&self, peers: &Peers) -> Trainer {
        Trainer::new(self.comparisons(), peers)
    }

    fn comparisons(&self) -> Comparisons {
        Comparisons { comparison: self.comparison, congestion: P::CONGESTION }
    }
}

impl<P: Paper> Method for Published<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn step(&self, recorded: Span) -> Span {
        coarser(self.step, recorded)
    }

    fn metrics(&self, kind: &Kind) -> Vec<&'static Metric> {
        of_kind(&self.metrics, kind)
    }

    fn needs(&self, recorded: Span) -> Option<Span> {
        let Comparison { sliding, needed, .. } = &self.comparison;
        let more = 2 * (needed.max(&1) - 1);
        Some(self.step(recorded) * (sliding.size + more * sliding.shift) as i64)
    }

    fn detector(&self, peers: &Peers) -> Box<dyn Detector> {
        Box::new(GroupDetector::new(self.comparisons(), peers, self.thresholds.clone()))
    }
}

/// The metrics that components of a kind have.
fn of_kind(metrics: &[&'static Metric], kind: &Kind) -> Vec<&'static Metric> {
    let has = |metric: &&&Metric| Schema::named(metric.table).is_some_and(|schema| schema.kind == *kind);
    metrics.iter().filter(has).copied().collect()
}
