//! Runs several methods on one recording and counts the verdicts of their windows.
//! In: tables, in the order of time. Out: a [`Score`] for each method. Always: all methods get the same tables, which
//! are read once for each sampling step.

use std::collections::BTreeMap;

use laggard_core::evaluation::{Evaluation, GroupScores};
use laggard_core::methods::choice::ChoiceError;
use laggard_core::methods::papers::settings::PaperSettings;
use laggard_core::methods::papers::thresholds::Thresholds;
use laggard_core::model::cluster::{Inventory, PeerGroup};
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::Span;
use laggard_core::tables::Table;

use super::sampled_time::SampledTime;
use super::scored_method::{RunSettings, ScoredMethod};
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
    pub trained: Vec<Thresholds>,
}

pub(crate) struct ScoringRun<'a> {
    inventory: &'a Inventory,
    truth: &'a Truth,
    sampled_time: SampledTime,
    runs: Vec<MethodRun>,
}

struct MethodRun {
    scored_method: ScoredMethod,
    step: Span,
    evaluation: Evaluation,
    /// The first metric that the method uses for each group.
    primary: Vec<Option<MetricId>>,
    windows: WindowTally,
}

/// The windows of one method on one recording.
#[derive(Clone, Debug)]
pub(crate) struct Score {
    pub scored_method: ScoredMethod,
    pub windows: Vec<WindowScores>,
    /// Faulty windows that were not anomalous, worst first.
    pub missed: Vec<WrongVerdict>,
    /// Healthy windows that were anomalous, worst first.
    pub mistaken: Vec<WrongVerdict>,
}

/// Wrong windows reported for each method.
const FEW: usize = 3;

impl<'a> ScoringRun<'a> {
    /// `every` is the sampling interval and `span` the length of the recording.
    pub(crate) fn new(
        inventory: &'a Inventory,
        truth: &'a Truth,
        plan: &Plan,
        every: Span,
        span: Span,
    ) -> Result<ScoringRun<'a>, ChoiceError> {
        let run = |&scored_method: &ScoredMethod| MethodRun::new(inventory, plan, scored_method, every, span);
        let runs = plan.methods.iter().map(run).collect::<Result<_, _>>()?;
        Ok(ScoringRun { inventory, truth, sampled_time: SampledTime::new(inventory), runs })
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
        let score = |run: &MethodRun| Score {
            scored_method: run.scored_method,
            windows: run.windows.scores(self.truth, &self.sampled_time),
            missed: run.windows.worst_missed(FEW),
            mistaken: run.windows.worst_mistaken(FEW),
        };
        self.runs.iter().map(score).collect()
    }
}

impl MethodRun {
    fn new(
        inventory: &Inventory,
        plan: &Plan,
        scored_method: ScoredMethod,
        every: Span,
        span: Span,
    ) -> Result<MethodRun, ChoiceError> {
        let (lengths, step, settings) = (plan.lengths.clone(), plan.step, plan.settings);
        let run = RunSettings { span, lengths, scale: 1.0, step, settings };
        let method = scored_method.method(&run, &plan.trained)?;
        let primary = |group: &PeerGroup| method.metrics(&group.kind).first().map(|metric| metric.id);
        let step = method.step(every);
        Ok(MethodRun {
            scored_method,
            step,
            primary: inventory.groups.iter().map(primary).collect(),
            windows: WindowTally::new(&scored_method.lengths(&plan.lengths, step, &plan.settings)),
            evaluation: Evaluation::new(inventory, &*method),
        })
    }

    fn add(&mut self, inventory: &Inventory, truth: &Truth, verdicts: &[GroupScores]) {
        for GroupScores { group, metrics } in verdicts {
            let members = &inventory.groups[*group].members;
            let primary = metrics.iter().filter(|scores| self.primary[*group] == Some(scores.metric.id));
            primary.for_each(|scores| self.windows.take(truth, *group, members, scores));
        }
    }
}

#[cfg(test)]
mod tests;
