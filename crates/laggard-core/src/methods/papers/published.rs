//! What the methods of both papers have in common: everything but their numbers.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use super::comparison::Comparison;
use super::congestion::Congestion;
use super::detector::{GroupWatch, Ways};
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
    /// The word its method is chosen by.
    const NAME: &'static str;
    /// The distance of samples.
    const STEP: Span;
    /// The metrics it looks at.
    const METRICS: &'static [MetricId];
    /// How components are compared.
    const COMPARISON: Comparison;
    /// How `cwnd` is compared; nothing: like all others.
    const CONGESTION: Option<Congestion>;
}

/// The method of a paper.
#[derive(Clone, Debug)]
pub struct Published<P: Paper> {
    /// The distance of samples.
    pub step: Span,
    /// How components are compared.
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
    /// With another measure: `kl` with the bins it was used with, by Sturges.
    pub fn with_measure(mut self, measure: Measure) -> Published<P> {
        self.comparison.measure = measure;
        if measure == Measure::Kl {
            self.comparison.bins = BinRule::Sturges;
        }
        self
    }

    /// Looking at other metrics than the paper's.
    pub fn with_metrics(mut self, metrics: Vec<&'static Metric>) -> Published<P> {
        self.metrics = metrics;
        self
    }

    /// With exact scores for everyone, where only verdicts are needed otherwise.
    pub fn with_exact_scores(mut self) -> Published<P> {
        self.comparison.are_scores_exact = true;
        self
    }

    /// With thresholds that were trained for this method and measure.
    pub fn with_thresholds(mut self, thresholds: Thresholds) -> Result<Published<P>, ThresholdsError> {
        thresholds.check(P::NAME, self.comparison.measure)?;
        self.thresholds = Some(Arc::new(thresholds));
        Ok(self)
    }

    /// The thresholds in use. Nothing: it goes by the group's own spread, of which a caller should warn.
    pub fn thresholds(&self) -> Option<&Thresholds> {
        self.thresholds.as_deref()
    }

    /// Begins to learn the thresholds of a group.
    pub fn train(&self, peers: &Peers) -> Trainer {
        Trainer::new(self.ways(), peers)
    }

    fn ways(&self) -> Ways {
        Ways { comparison: self.comparison, congestion: P::CONGESTION }
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

    fn watch(&self, peers: &Peers) -> Box<dyn Detector> {
        Box::new(GroupWatch::new(self.ways(), peers, self.thresholds.clone()))
    }
}

/// Those of the metrics that components of a kind have.
fn of_kind(metrics: &[&'static Metric], kind: &Kind) -> Vec<&'static Metric> {
    let has = |metric: &&&Metric| Schema::named(metric.table).is_some_and(|schema| schema.kind == *kind);
    metrics.iter().filter(has).copied().collect()
}
