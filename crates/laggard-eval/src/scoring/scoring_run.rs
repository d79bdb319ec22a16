//! Runs several methods on one recording, each on the whole recording and on its first minutes or hours only.
//! In: tables, in the order of time. Out: a [`Score`] for each method. Always: all methods get the same tables, which
//! are read once for each sampling step.

use std::collections::BTreeMap;

use laggard_core::evaluation::{Evaluation, GroupScores};
use laggard_core::methods::Method;
use laggard_core::methods::choice::ChoiceError;
use laggard_core::methods::papers::settings::PaperSettings;
use laggard_core::methods::papers::thresholds::Thresholds;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::Span;
use laggard_core::tables::Table;
use serde::Serialize;

use super::prefix::Prefix;
use super::sampled_time::SampledTime;
use super::scored_method::{RunSettings, ScoredMethod};
use super::stream::{Alarms, Checkpoint, FirstReports, keep_first, per_1000_days};
use super::truth::Truth;
use super::windows::{WindowScores, WindowTally, WrongVerdict};

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub methods: Vec<ScoredMethod>,
    /// Window lengths.
    pub lengths: Vec<Span>,
    /// The sampling step of the papers' methods; `None`: the step that the papers use.
    pub step: Option<Span>,
    /// Changed numbers of the papers' methods.
    pub settings: PaperSettings,
    /// Each method also runs on only this much data from the beginning.
    pub beginnings: Vec<Span>,
    /// Multiples of the default threshold; empty: the default threshold only.
    pub scales: Vec<f64>,
    /// Accepted false alarms in 1000 component-days.
    pub budget: f64,
    pub trained: Vec<Thresholds>,
}

pub(crate) struct ScoringRun<'a> {
    inventory: &'a Inventory,
    truth: &'a Truth,
    plan: &'a Plan,
    sampled_time: SampledTime,
    runs: Vec<MethodRun>,
}

/// A method with one threshold on one beginning of the recording.
struct MethodRun {
    scored_method: ScoredMethod,
    scale: f64,
    /// `None`: the whole recording.
    beginning: Option<Span>,
    step: Span,
    evaluation: Evaluation,
    /// The first metric that the method uses for each group.
    primary: Vec<Option<MetricId>>,
    alarms: Alarms,
    windows: Option<WindowTally>,
}

/// The result of one method on one recording.
#[derive(Clone, Debug)]
pub(crate) struct Score {
    pub scored_method: ScoredMethod,
    pub windows: Vec<WindowScores>,
    /// By the verdicts of windows.
    pub first_reports: FirstReports,
    /// Lowest threshold first.
    pub curve: Vec<Point>,
    /// The lowest threshold that stays within the budget of false alarms.
    pub at_budget: Option<Point>,
    /// Faulty windows that were not reported, worst first.
    pub missed: Vec<WrongVerdict>,
    /// Healthy windows that were reported, worst first.
    pub mistaken: Vec<WrongVerdict>,
}

/// A point of the curve of detected faults against false alarms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The threshold, as a multiple of the default.
    pub scale: f64,
    /// Over the whole recording.
    pub false_alarms_per_1000_component_days: f64,
    /// In the order of increasing data.
    #[serde(rename = "looks")]
    pub checkpoints: Vec<Checkpoint>,
}

/// Wrong windows reported for each method.
const FEW: usize = 3;

impl<'a> ScoringRun<'a> {
    /// `every` is the sampling interval and `span` the length of the recording.
    pub(crate) fn new(
        inventory: &'a Inventory,
        truth: &'a Truth,
        plan: &'a Plan,
        every: Span,
        span: Span,
    ) -> Result<ScoringRun<'a>, ChoiceError> {
        let mut runs = Vec::new();
        for &scored_method in &plan.methods {
            let others =
                plan.scales.iter().copied().filter(|&scale| scale != 1.0 && scored_method.can_be_swept());
            for scale in std::iter::once(1.0).chain(others) {
                let beginnings =
                    plan.beginnings.iter().copied().filter(|beginning| *beginning < span).map(Some);
                for beginning in beginnings.chain([None]) {
                    let (span, lengths) = (beginning.unwrap_or(span), plan.lengths.clone());
                    let run = RunSettings { span, lengths, scale, step: plan.step, settings: plan.settings };
                    let method = scored_method.method(&run, &plan.trained)?;
                    runs.push(MethodRun::new(
                        inventory,
                        plan,
                        scored_method,
                        scale,
                        beginning,
                        method,
                        every,
                    ));
                }
            }
        }
        Ok(ScoringRun { inventory, truth, plan, sampled_time: SampledTime::new(inventory), runs })
    }

    /// The sampling steps that the methods need, shortest first.
    pub(crate) fn steps(&self) -> Vec<Span> {
        let mut steps: Vec<Span> = self.runs.iter().map(|run| run.step).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// The metrics that the methods with this step need.
    pub(crate) fn metrics(&self, step: Span) -> Vec<&'static Metric> {
        let all = self.runs.iter().filter(|run| run.step == step).flat_map(|run| run.evaluation.metrics());
        let metrics: BTreeMap<&str, &'static Metric> = all.map(|metric| (metric.name, metric)).collect();
        metrics.into_values().collect()
    }

    pub(crate) fn take(&mut self, step: Span, tables: &[Table]) {
        if self.steps().last() == Some(&step) {
            self.sampled_time.take(tables);
        }
        for run in self.runs.iter_mut().filter(|run| run.step == step) {
            let verdicts = run.evaluation.evaluate(tables);
            run.add(self.inventory, self.truth, &verdicts);
        }
    }

    pub(crate) fn finish(&mut self) {
        for run in &mut self.runs {
            let verdicts = run.evaluation.finish();
            run.add(self.inventory, self.truth, &verdicts);
        }
    }

    pub(crate) fn sampled_time(&self) -> &SampledTime {
        &self.sampled_time
    }

    pub(crate) fn scores(&self) -> Vec<Score> {
        self.plan.methods.iter().map(|&scored_method| self.score(scored_method)).collect()
    }

    fn score(&self, scored_method: ScoredMethod) -> Score {
        let is_usual = |run: &&MethodRun| {
            run.scored_method == scored_method && run.scale == 1.0 && run.beginning.is_none()
        };
        let all = self.runs.iter().find(is_usual).expect("each method runs on the whole recording");
        let windows = all.windows.as_ref();
        let mut curve: Vec<Point> = match scored_method.can_be_swept() {
            true => self.plan.scales.iter().map(|&scale| self.point(scored_method, scale)).collect(),
            false => Vec::new(),
        };
        curve.sort_by(|a, b| a.scale.total_cmp(&b.scale));
        let keeps = |point: &&Point| point.false_alarms_per_1000_component_days <= self.plan.budget;
        Score {
            scored_method,
            windows: windows.map(|w| w.scores(self.truth, &self.sampled_time)).unwrap_or_default(),
            first_reports: self.first_reports(scored_method),
            at_budget: curve.iter().find(keeps).cloned(),
            curve,
            missed: windows.map(|w| w.worst_missed(FEW)).unwrap_or_default(),
            mistaken: windows.map(|w| w.worst_mistaken(FEW)).unwrap_or_default(),
        }
    }

    /// The first report of each fault in any run of a method with its default threshold.
    fn first_reports(&self, scored_method: ScoredMethod) -> FirstReports {
        let mut first_reports = FirstReports::new();
        for run in self.runs.iter().filter(|e| e.scored_method == scored_method && e.scale == 1.0) {
            run.alarms
                .first_reports
                .iter()
                .for_each(|(&fault, &first)| keep_first(&mut first_reports, fault, first));
        }
        first_reports
    }

    fn point(&self, scored_method: ScoredMethod, scale: f64) -> Point {
        let runs = self.runs.iter().filter(|e| e.scored_method == scored_method && e.scale == scale);
        let checkpoints: Vec<Checkpoint> =
            runs.map(|e| e.alarms.checkpoint(self.truth, e.beginning)).collect();
        let alarms = checkpoints.last().map_or(0, |last| last.false_alarms);
        let rate = per_1000_days(alarms, self.sampled_time.component_days());
        Point { scale, false_alarms_per_1000_component_days: rate, checkpoints }
    }
}

impl MethodRun {
    fn new(
        inventory: &Inventory,
        plan: &Plan,
        scored_method: ScoredMethod,
        scale: f64,
        beginning: Option<Span>,
        method: Box<dyn Method>,
        every: Span,
    ) -> MethodRun {
        let primary = |group: &laggard_core::model::cluster::PeerGroup| {
            method.metrics(&group.kind).first().map(|m| m.id)
        };
        let primary = inventory.groups.iter().map(primary).collect();
        let step = method.step(every);
        let method: Box<dyn Method> = match beginning {
            Some(span) => Box::new(Prefix { method, span }),
            None => method,
        };
        let is_usual = beginning.is_none() && scale == 1.0;
        let windows =
            is_usual.then(|| WindowTally::new(&scored_method.lengths(&plan.lengths, step, &plan.settings)));
        let evaluation = Evaluation::new(inventory, &*method);
        MethodRun {
            scored_method,
            scale,
            beginning,
            step,
            evaluation,
            primary,
            alarms: Alarms::default(),
            windows,
        }
    }

    fn add(&mut self, inventory: &Inventory, truth: &Truth, verdicts: &[GroupScores]) {
        for GroupScores { group, metrics } in verdicts {
            let members = &inventory.groups[*group].members;
            for metric_scores in metrics {
                self.alarms.take(truth, members, metric_scores);
                if let Some(windows) = &mut self.windows
                    && self.primary[*group] == Some(metric_scores.metric.id)
                {
                    windows.take(truth, *group, members, metric_scores);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
