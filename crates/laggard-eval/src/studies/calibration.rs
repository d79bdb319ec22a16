//! Fits the confidence of causes to labelled data.
//! In: labelled datasets of several systems. Out: [`Calibration`]. Always: every kind of fault of every system has the same
//! weight, however many datasets show it.

use std::collections::BTreeMap;

use laggard_core::diagnosis::Cause;
use laggard_core::diagnosis::confidence::{Calibration, Support};
use laggard_core::methods::papers::settings::PaperSettings;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::recording::Recording;
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use super::datasets::LabelledDataset;
use super::{ClusterChoice, Task, suspects};
use crate::scoring::reliability::{Verdict, with_causes};
use crate::scoring::scored_method::ScoredMethod;
use crate::scoring::truth::Truth;

/// The leading cause of a suspect that reports a labelled fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// The labelled cause.
    pub fault: Cause,
    pub support: Support,
}

/// Reports are read when these percentages of a fault have passed, and at the end of the recording.
const PERCENT: [i64; 4] = [10, 25, 50, 100];

impl Case {
    pub fn verdict(&self, calibration: &Calibration) -> Verdict {
        let confidence = calibration.confidence(&self.support);
        Verdict { cause: self.support.cause, confidence, is_right: self.is_right() }
    }

    fn is_right(&self) -> bool {
        self.support.cause == self.fault
    }
}

/// The cases of a system, with and without its cluster file.
pub fn cases(labelled: &[LabelledDataset]) -> anyhow::Result<Vec<Case>> {
    let of_dataset = |one: &LabelledDataset| -> anyhow::Result<Vec<Case>> {
        let mut cases = Vec::new();
        for cluster in [ClusterChoice::Own, ClusterChoice::Without] {
            cases.extend(of_dataset(&task(cluster), one)?);
        }
        Ok(cases)
    };
    let all: Vec<Vec<Case>> = labelled.par_iter().map(of_dataset).collect::<anyhow::Result<_>>()?;
    Ok(all.concat())
}

fn task(cluster: ClusterChoice) -> Task {
    Task {
        methods: vec![ScoredMethod::Laggard],
        lengths: Vec::new(),
        step: None,
        settings: PaperSettings::default(),
        is_swept: false,
        budget: 0.0,
        trained: Vec::new(),
        cluster,
    }
}

fn of_dataset(task: &Task, one: &LabelledDataset) -> anyhow::Result<Vec<Case>> {
    let recording = task.open(one)?;
    let (truth, _) = task.truth(&recording, one)?;
    let (first, last) = recording.times().ends(recording.times().longest_interval)?;
    let mut cases = Vec::new();
    for time in times(&truth, first, last) {
        let method = task.method(ScoredMethod::Laggard, one, &task.run(time - first, &task.lengths))?;
        let suspects = suspects(&mut task.open_until(one, time)?, &*method)?;
        for (suspect, causes) in with_causes(suspects.iter(), &truth, recording.inventory()) {
            cases.extend(suspect.support.and_then(|support| case(support, &causes)));
        }
    }
    Ok(cases)
}

/// Of several faults that a suspect concerns, the one it names counts.
fn case(support: Support, causes: &[Cause]) -> Option<Case> {
    let named = causes.iter().find(|cause| **cause == support.cause);
    Some(Case { fault: *named.or(causes.first())?, support })
}

/// The times at which reports are read; none without a fault.
fn times(truth: &Truth, first: Timestamp, last: Timestamp) -> Vec<Timestamp> {
    let of_fault = |begin: Timestamp, end: Timestamp| {
        PERCENT.map(|percent| begin + Span::from_micros((end - begin).micros() * percent / 100))
    };
    let labels = truth.faults.iter().map(|fault| &fault.label);
    let during = labels.flat_map(|label| of_fault(label.begin.unwrap_or(first), label.end.unwrap_or(last)));
    let mut times: Vec<Timestamp> = during.filter(|time| *time > first && *time < last).collect();
    if !truth.faults.is_empty() {
        times.push(last);
    }
    times.sort_unstable();
    times.dedup();
    times
}

/// Keeps slopes finite where the inputs separate right from wrong; next to a weight of 1 for a kind of fault.
const RIDGE: f64 = 0.001;
/// Newton steps for each number.
const STEPS: usize = 500;

/// The most likely calibration of which no slope is negative. The cases of each system are in a list of their own.
pub fn fit(systems: &[Vec<Case>]) -> Calibration {
    let mut points: Vec<Point> = Vec::new();
    for cases in systems {
        let mut of_fault: BTreeMap<Cause, f64> = BTreeMap::new();
        cases.iter().for_each(|case| *of_fault.entry(case.fault).or_default() += 1.0);
        points.extend(cases.iter().map(|case| Point::new(case, 1.0 / of_fault[&case.fault])));
    }
    // The likelihood has one maximum, so that one number after the other leads there.
    let mut numbers = [0.0; 3];
    for step in 0..3 * STEPS {
        let number = step % 3;
        let least = if number == 0 { f64::NEG_INFINITY } else { 0.0 };
        numbers[number] = (numbers[number] + newton_step(&points, &numbers, number)).max(least);
    }
    let [intercept, lead, strength] = numbers;
    Calibration { intercept, lead, strength }
}

struct Point {
    /// 1, and the inputs.
    inputs: [f64; 3],
    is_right: f64,
    weight: f64,
}

impl Point {
    fn new(case: &Case, weight: f64) -> Point {
        let [lead, strength] = case.support.inputs();
        Point { inputs: [1.0, lead, strength], is_right: f64::from(u8::from(case.is_right())), weight }
    }
}

fn newton_step(points: &[Point], numbers: &[f64; 3], number: usize) -> f64 {
    let ridge = if number == 0 { 0.0 } else { RIDGE };
    let (mut slope, mut curvature) = (-ridge * numbers[number], ridge + f64::MIN_POSITIVE);
    for Point { inputs, is_right, weight } in points {
        let logit: f64 = inputs.iter().zip(numbers).map(|(input, number)| input * number).sum();
        let stated = 1.0 / (1.0 + (-logit).exp());
        slope += weight * inputs[number] * (is_right - stated);
        curvature += weight * inputs[number].powi(2) * stated * (1.0 - stated);
    }
    // Far from the maximum the curvature is almost 0, and a whole step would lead too far.
    (slope / curvature).clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use laggard_core::model::random::Random;

    /// Verdicts of which the given calibration states how often they are right.
    fn drawn(truth: &Calibration, count: u64, seed: u64) -> Vec<Case> {
        let case = |number: u64| {
            let mut random = Random::of(seed, &[number]);
            let (lead, strength) = (random.between(0.0, 0.6), random.between(1.0, 6.0));
            let support = Support { cause: Cause::DiskBusy, lead, strength };
            let is_right = random.happens(truth.confidence(&support));
            let cause = if is_right { Cause::DiskBusy } else { Cause::DiskHog };
            Case { fault: Cause::DiskBusy, support: Support { cause, ..support } }
        };
        (0..count).map(case).collect()
    }

    #[test]
    fn a_fit_finds_the_calibration_that_verdicts_were_drawn_from() {
        let truth = Calibration { intercept: -2.0, lead: 6.0, strength: 0.5 };
        let fitted = fit(&[drawn(&truth, 20_000, 1), drawn(&truth, 20_000, 2)]);
        for case in drawn(&truth, 100, 3) {
            let (stated, right) = (fitted.confidence(&case.support), truth.confidence(&case.support));
            assert!((stated - right).abs() < 0.06, "{fitted:?}: {stated} {right}");
        }
    }

    #[test]
    fn evidence_never_lowers_a_confidence_whatever_the_data() {
        let misleading = Calibration { intercept: 2.0, lead: -3.0, strength: -0.5 };
        let fitted = fit(&[drawn(&misleading, 2000, 1)]);
        assert!(fitted.lead >= 0.0 && fitted.strength >= 0.0, "{fitted:?}");
    }

    #[test]
    fn a_system_with_many_verdicts_counts_no_more_than_one_with_few() {
        let right = Calibration { intercept: 4.0, lead: 0.0, strength: 0.0 };
        let wrong = Calibration { intercept: -4.0, lead: 0.0, strength: 0.0 };
        let fitted = fit(&[drawn(&right, 3000, 1), drawn(&wrong, 100, 2)]);
        let stated = fitted.confidence(&drawn(&right, 1, 3)[0].support);
        assert!((stated - 0.5).abs() < 0.1, "{stated}");
    }

    #[test]
    fn perfect_verdicts_give_finite_numbers() {
        let right = Calibration { intercept: 100.0, lead: 0.0, strength: 0.0 };
        let Calibration { intercept, lead, strength } = fit(&[drawn(&right, 50, 1)]);
        assert!(intercept.is_finite() && lead.is_finite() && strength.is_finite());
    }
}
