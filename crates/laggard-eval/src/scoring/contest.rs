//! Several methods on one recording, each with all of it and with its beginnings only.
//! In: tables, stretch after stretch. Out: figures for each method. Always: all see the same tables, read once for
//! each distance of instants that one of them wants.

use std::collections::BTreeMap;

use laggard_core::evaluation::{Evaluation, GroupScores};
use laggard_core::methods::Method;
use laggard_core::methods::papers::thresholds::Thresholds;
use laggard_core::model::cluster::Inventory;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::Span;
use laggard_core::tables::Table;
use serde::Serialize;

use super::covered::Covered;
use super::cut::Cut;
use super::entrants::{Entrant, Look};
use super::stream::{self, Alarms, Delay, StreamFigures, Told, hear, per_1000_days};
use super::truth::Truth;
use super::windows::{WindowFigures, WindowTally, Wrong};

/// What is to be found out.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Of whom.
    pub entrants: Vec<Entrant>,
    /// With windows of these lengths.
    pub lengths: Vec<Span>,
    /// The distance of samples, for the methods of the papers; nothing: the papers'.
    pub step: Option<Span>,
    /// After so much data each.
    pub beginnings: Vec<Span>,
    /// With thresholds this many times the usual ones; nothing: with the usual ones only.
    pub scales: Vec<f64>,
    /// At most so many false alarms in 1000 component-days.
    pub budget: f64,
    /// What was trained.
    pub trained: Vec<Thresholds>,
}

/// Several methods on one recording.
pub struct Contest<'a> {
    inventory: &'a Inventory,
    truth: &'a Truth,
    plan: &'a Plan,
    covered: Covered,
    entries: Vec<Entry>,
}

/// A method with one look.
struct Entry {
    entrant: Entrant,
    scale: f64,
    /// Nothing: all of it.
    beginning: Option<Span>,
    step: Span,
    evaluation: Evaluation,
    /// The most telling metric of each group.
    telling: Vec<Option<MetricId>>,
    alarms: Alarms,
    windows: Option<WindowTally>,
}

/// What a method is worth on a recording.
#[derive(Clone, Debug)]
pub struct Score {
    /// Of whom.
    pub entrant: Entrant,
    /// Window by window.
    pub windows: Vec<WindowFigures>,
    /// As a stream.
    pub stream: StreamFigures,
    /// With other thresholds; lowest first.
    pub curve: Vec<Point>,
    /// The most sensitive threshold that keeps the budget of false alarms.
    pub at_budget: Option<Point>,
    /// Windows in trouble that were not told, worst first.
    pub missed: Vec<Wrong>,
    /// Windows that were told without trouble, worst first.
    pub mistaken: Vec<Wrong>,
}

/// A point of the curve of found troubles against false alarms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The threshold, as a multiple of the usual one.
    pub scale: f64,
    /// False alarms over the full span.
    pub false_alarms_per_1000_component_days: f64,
    /// Who is named after more and more data.
    pub looks: Vec<stream::Look>,
}

/// How many wrong windows are told of each method.
const FEW: usize = 3;

impl<'a> Contest<'a> {
    /// Begins. `every` is the interval and `span` the length of the recording.
    pub fn new(
        inventory: &'a Inventory,
        truth: &'a Truth,
        plan: &'a Plan,
        every: Span,
        span: Span,
    ) -> Contest<'a> {
        let mut entries = Vec::new();
        for &entrant in &plan.entrants {
            let others = plan.scales.iter().copied().filter(|&scale| scale != 1.0 && entrant.can_be_swept());
            for scale in std::iter::once(1.0).chain(others) {
                let beginnings =
                    plan.beginnings.iter().copied().filter(|beginning| *beginning < span).map(Some);
                for beginning in beginnings.chain([None]) {
                    let (span, lengths) = (beginning.unwrap_or(span), plan.lengths.clone());
                    let look = Look { span, lengths, scale, step: plan.step };
                    let method = entrant.method(&look, &plan.trained);
                    entries.push(Entry::new(inventory, plan, entrant, scale, beginning, method, every));
                }
            }
        }
        Contest { inventory, truth, plan, covered: Covered::new(inventory), entries }
    }

    /// The distances of instants that are wanted.
    pub fn steps(&self) -> Vec<Span> {
        let mut steps: Vec<Span> = self.entries.iter().map(|entry| entry.step).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// What is to be shown at a distance of instants.
    pub fn metrics(&self, step: Span) -> Vec<&'static Metric> {
        let all = self
            .entries
            .iter()
            .filter(|entry| entry.step == step)
            .flat_map(|entry| entry.evaluation.metrics());
        let metrics: BTreeMap<&str, &'static Metric> = all.map(|metric| (metric.name, metric)).collect();
        metrics.into_values().collect()
    }

    /// Takes the next tables at a distance of instants.
    pub fn take(&mut self, step: Span, tables: &[Table]) {
        if self.steps().last() == Some(&step) {
            self.covered.take(tables);
        }
        for entry in self.entries.iter_mut().filter(|entry| entry.step == step) {
            let verdicts = entry.evaluation.evaluate(tables);
            entry.hear(self.inventory, self.truth, &verdicts);
        }
    }

    /// No more tables come.
    pub fn finish(&mut self) {
        for entry in &mut self.entries {
            let verdicts = entry.evaluation.finish();
            entry.hear(self.inventory, self.truth, &verdicts);
        }
    }

    /// How much was sampled.
    pub fn covered(&self) -> &Covered {
        &self.covered
    }

    /// The figures of each method.
    pub fn scores(&self) -> Vec<Score> {
        self.plan.entrants.iter().map(|&entrant| self.score(entrant)).collect()
    }

    fn score(&self, entrant: Entrant) -> Score {
        let is_usual =
            |entry: &&Entry| entry.entrant == entrant && entry.scale == 1.0 && entry.beginning.is_none();
        let all = self.entries.iter().find(is_usual).expect("each entrant has a look at all");
        let windows = all.windows.as_ref();
        let usual = self.point(entrant, 1.0);
        let mut curve: Vec<Point> = match entrant.can_be_swept() {
            true => self.plan.scales.iter().map(|&scale| self.point(entrant, scale)).collect(),
            false => Vec::new(),
        };
        curve.sort_by(|a, b| a.scale.total_cmp(&b.scale));
        let keeps = |point: &&Point| point.false_alarms_per_1000_component_days <= self.plan.budget;
        Score {
            entrant,
            windows: windows.map(|w| w.figures(self.truth, &self.covered)).unwrap_or_default(),
            stream: StreamFigures {
                looks: usual.looks,
                false_alarms_per_1000_component_days: usual.false_alarms_per_1000_component_days,
                delay: Delay::new(&self.told(entrant), self.truth, &self.covered),
                component_mcc: all.alarms.by_component(self.truth, &self.covered).mcc(),
            },
            at_budget: curve.iter().find(keeps).cloned(),
            curve,
            missed: windows.map(|w| w.worst_missed(FEW)).unwrap_or_default(),
            mistaken: windows.map(|w| w.worst_mistaken(FEW)).unwrap_or_default(),
        }
    }

    /// What the looks of a method with its usual threshold have told first.
    fn told(&self, entrant: Entrant) -> Told {
        let mut told = Told::new();
        for entry in self.entries.iter().filter(|e| e.entrant == entrant && e.scale == 1.0) {
            entry.alarms.told.iter().for_each(|(&trouble, &first)| hear(&mut told, trouble, first));
        }
        told
    }

    fn point(&self, entrant: Entrant, scale: f64) -> Point {
        let entries = self.entries.iter().filter(|e| e.entrant == entrant && e.scale == scale);
        let looks: Vec<stream::Look> = entries.map(|e| e.alarms.look(self.truth, e.beginning)).collect();
        let alarms = looks.last().map_or(0, |look| look.false_alarms);
        let rate = per_1000_days(alarms, self.covered.component_days());
        Point { scale, false_alarms_per_1000_component_days: rate, looks }
    }
}

impl Entry {
    fn new(
        inventory: &Inventory,
        plan: &Plan,
        entrant: Entrant,
        scale: f64,
        beginning: Option<Span>,
        method: Box<dyn Method>,
        every: Span,
    ) -> Entry {
        let telling = |group: &laggard_core::model::cluster::PeerGroup| {
            method.metrics(&group.kind).first().map(|m| m.id)
        };
        let telling = inventory.groups.iter().map(telling).collect();
        let step = method.step(every);
        let cut: Box<dyn Method> = match beginning {
            Some(span) => Box::new(Cut { method, span }),
            None => method,
        };
        let is_usual = beginning.is_none() && scale == 1.0;
        let windows = is_usual.then(|| WindowTally::new(&entrant.lengths(&plan.lengths, step)));
        let evaluation = Evaluation::new(inventory, &*cut);
        Entry { entrant, scale, beginning, step, evaluation, telling, alarms: Alarms::default(), windows }
    }

    fn hear(&mut self, inventory: &Inventory, truth: &Truth, verdicts: &[GroupScores]) {
        for GroupScores { group, metrics } in verdicts {
            let members = &inventory.groups[*group].members;
            for judgement in metrics {
                self.alarms.take(truth, members, judgement);
                if let Some(windows) = &mut self.windows
                    && self.telling[*group] == Some(judgement.metric.id)
                {
                    windows.take(truth, *group, members, judgement);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
