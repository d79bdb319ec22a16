//! The common part of both papers' methods: everything except their numbers.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use super::comparison::Comparison;
use super::congestion::{self, Congestion};
use super::detector::{Comparisons, GroupDetector, MetricComparison};
use super::settings::{PaperSettings, Parameter, SettingError};
use super::training::Trainer;
use super::windows::Sliding;
use super::windows::smoothing::Smoothing;
use crate::methods::papers::distances::Measure;
use crate::methods::papers::distances::bins::BinRule;
use crate::methods::papers::thresholds::{Thresholds, ThresholdsError};
use crate::methods::{Detector, Method, Peers, Reasoning, coarser};
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
    const REASONING: Reasoning;
    /// The length of the paper's own training.
    const TRAINING: Option<Span>;
}

/// The method of a paper.
#[derive(Clone, Debug)]
pub struct Published<P: Paper> {
    pub step: Span,
    pub comparison: Comparison,
    congestion: Option<Congestion>,
    metrics: Vec<&'static Metric>,
    thresholds: Option<Arc<Thresholds>>,
    paper: PhantomData<P>,
}

impl<P: Paper> Default for Published<P> {
    fn default() -> Published<P> {
        Published {
            step: P::STEP,
            comparison: P::COMPARISON,
            congestion: P::CONGESTION,
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

    /// Changes some numbers of the paper. To be called after [`Published::with_measure`], which has its own bins.
    pub fn with_settings(mut self, settings: &PaperSettings) -> Result<Published<P>, SettingError> {
        let measure = self.comparison.measure;
        let unused =
            |parameter| SettingError::Unused { parameter, method: P::NAME, measure: measure.as_str() };
        let comparison = &mut self.comparison;
        let Sliding { size, shift } = comparison.sliding;
        let sliding =
            Sliding { size: settings.window.unwrap_or(size), shift: settings.shift.unwrap_or(shift) };
        if sliding.shift > sliding.size {
            return Err(SettingError::Shift { shift: sliding.shift, window: sliding.size });
        }
        comparison.sliding = sliding;
        comparison.smoothing = settings.smoothing.map_or(comparison.smoothing, Smoothing::of);
        comparison.needed = settings.k.unwrap_or(comparison.needed);
        comparison.partition = settings.partition.or(comparison.partition);
        comparison.steps.cushion = settings.cushion.unwrap_or(comparison.steps.cushion);
        if let Some(bins) = settings.bins {
            if !measure.has_bins() {
                return Err(unused(Parameter::Bins));
            }
            comparison.bins = bins;
        }
        if let Some(span) = settings.cwnd_smoothing {
            let congestion = self.congestion.as_mut().ok_or_else(|| unused(Parameter::CwndSmoothing))?;
            congestion.smoothing = Smoothing::of(span);
        }
        Ok(self)
    }

    /// All numbers that can be changed.
    pub fn settings(&self) -> PaperSettings {
        let Comparison { smoothing, sliding, measure, bins, needed, partition, steps, .. } = self.comparison;
        PaperSettings {
            smoothing: Some(smoothing.span),
            window: Some(sliding.size),
            shift: Some(sliding.shift),
            k: Some(needed),
            cushion: Some(steps.cushion),
            bins: measure.has_bins().then_some(bins),
            partition,
            cwnd_smoothing: self.congestion.map(|congestion| congestion.smoothing.span),
        }
    }

    /// The numbers of the paper, for the same measure.
    fn papers_settings(&self) -> PaperSettings {
        Published::<P>::default().with_measure(self.comparison.measure).settings()
    }

    /// The numbers that are not the paper's.
    pub fn changed_settings(&self) -> PaperSettings {
        self.settings().unlike(&self.papers_settings())
    }

    /// A threshold that is not below this is never exceeded. None: the score has the metric's unit.
    pub fn highest_score(&self, metric: &Metric) -> Option<f64> {
        match self.comparisons().of(metric) {
            MetricComparison::Comparison(comparison) => comparison.highest_score(),
            MetricComparison::Congestion(_) => Some(congestion::HIGHEST_SCORE),
        }
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

    /// Fails if the thresholds were trained for another method or measure, or with other settings.
    pub fn with_thresholds(mut self, thresholds: Thresholds) -> Result<Published<P>, ThresholdsError> {
        thresholds.check(P::NAME, self.comparison.measure)?;
        let trained = thresholds.trained.settings.or(self.papers_settings());
        thresholds.check_settings(&trained, &self.settings())?;
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
        Comparisons { comparison: self.comparison, congestion: self.congestion }
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

    fn reasoning(&self) -> Reasoning {
        P::REASONING
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
