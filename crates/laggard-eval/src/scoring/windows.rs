//! Window by window, without memory: was a component anomalous when it was in trouble?
//! In: judgements of a method's most telling metric. Out: a [`Confusion`] for each length of windows, and the windows
//! that were told most wrongly. Always: memory does not grow with the recording.

use std::collections::BTreeMap;

use laggard_core::model::time::Span;
use laggard_core::scores::Window;
use laggard_core::scores::{MemberScore, MetricScores};
use serde::Serialize;

use super::confusion::Confusion;
use super::covered::Covered;
use super::stream::{Delay, Told, hear};
use super::sweep::Sweep;
use super::truth::Truth;
use laggard_core::model::metric::MetricId;

/// What a method says, window by window.
#[derive(Clone, Debug)]
pub struct WindowTally {
    lengths: BTreeMap<Span, OfLength>,
    missed: BTreeMap<usize, Wrong>,
    mistaken: BTreeMap<usize, Wrong>,
}

#[derive(Clone, Debug, Default)]
struct OfLength {
    counts: Confusion,
    told: Told,
    sweep: Sweep,
}

/// A window that was told wrongly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrong {
    /// Of whom; an index of components.
    pub component: usize,
    /// Who his peers are; an index of groups.
    pub group: usize,
    /// In which metric.
    pub metric: MetricId,
    /// When.
    pub window: Window,
    /// What was said.
    pub verdict: MemberScore,
}

/// How good a method is with windows of one length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowFigures {
    /// How long they are.
    pub length: Span,
    /// How many of what.
    #[serde(flatten)]
    pub counts: Confusion,
    /// The share of anomalous windows that were rightly so.
    pub precision: Option<f64>,
    /// The share of windows in trouble that were anomalous.
    pub recall: Option<f64>,
    /// Matthews' correlation coefficient.
    pub mcc: Option<f64>,
    /// The same with the threshold that is best in hindsight.
    pub best_mcc: Option<f64>,
    /// That threshold, as a multiple of the method's own.
    pub best_scale: Option<f64>,
    /// How soon troubles have their first anomalous window.
    pub delay: Delay,
}

impl WindowTally {
    /// Of windows of these lengths.
    pub fn new(lengths: &[Span]) -> WindowTally {
        let lengths = lengths.iter().map(|&length| (length, OfLength::default())).collect();
        WindowTally { lengths, missed: BTreeMap::new(), mistaken: BTreeMap::new() }
    }

    /// Takes what was said of a group. Windows of other lengths, such as those that the end of the recording has cut
    /// off, and verdicts without a score do not count.
    pub fn take(&mut self, truth: &Truth, group: usize, members: &[usize], judgement: &MetricScores) {
        for judged in &judgement.windows {
            let Some(of_length) = self.lengths.get_mut(&judged.window.length) else { continue };
            for (&component, &verdict) in
                members.iter().zip(&judged.scores).filter(|(_, v)| !v.score.is_nan())
            {
                let is_true = truth.is_in_trouble(component, &judged.window);
                of_length.counts.count(verdict.is_anomalous, is_true);
                of_length.sweep.count(ratio(&verdict), is_true);
                let wrong =
                    Wrong { component, group, metric: judgement.metric.id, window: judged.window, verdict };
                match (verdict.is_anomalous, is_true) {
                    (true, false) => keep(&mut self.mistaken, wrong, |old, new| ratio(new) > ratio(old)),
                    (true, true) => of_length.told(truth, component, &judged.window),
                    (false, true) => keep(&mut self.missed, wrong, |old, new| ratio(new) < ratio(old)),
                    (false, false) => {}
                }
            }
        }
    }

    /// The figures, shortest windows first.
    pub fn figures(&self, truth: &Truth, covered: &Covered) -> Vec<WindowFigures> {
        let figures = |(&length, OfLength { counts, told, sweep }): (&Span, &OfLength)| {
            let best = sweep.best_mcc();
            WindowFigures {
                length,
                counts: *counts,
                precision: counts.precision(),
                recall: counts.recall(),
                mcc: counts.mcc(),
                best_mcc: best.map(|(_, mcc)| mcc),
                best_scale: best.map(|(scale, _)| scale),
                delay: Delay::new(told, truth, covered),
            }
        };
        self.lengths.iter().map(figures).collect()
    }

    /// Of the components in trouble: the few whose windows looked best, each with its best.
    pub fn worst_missed(&self, few: usize) -> Vec<Wrong> {
        let mut missed: Vec<Wrong> = self.missed.values().copied().collect();
        missed.sort_by(|a, b| ratio(&a.verdict).total_cmp(&ratio(&b.verdict)));
        missed.truncate(few);
        missed
    }

    /// Of the others: the few whose windows looked worst, each with its worst.
    pub fn worst_mistaken(&self, few: usize) -> Vec<Wrong> {
        let mut mistaken: Vec<Wrong> = self.mistaken.values().copied().collect();
        mistaken.sort_by(|a, b| ratio(&b.verdict).total_cmp(&ratio(&a.verdict)));
        mistaken.truncate(few);
        mistaken
    }
}

impl OfLength {
    fn told(&mut self, truth: &Truth, component: usize, window: &Window) {
        for (number, _) in truth.of(component).filter(|(_, trouble)| trouble.label.overlaps(window)) {
            hear(&mut self.told, number, (window.end(), component));
        }
    }
}

fn keep(
    kept: &mut BTreeMap<usize, Wrong>,
    new: Wrong,
    is_worse: impl Fn(&MemberScore, &MemberScore) -> bool,
) {
    let old = kept.entry(new.component).or_insert(new);
    if is_worse(&old.verdict, &new.verdict) {
        *old = new;
    }
}

/// The score as a multiple of its threshold.
fn ratio(verdict: &MemberScore) -> f64 {
    f64::from(verdict.score) / f64::from(verdict.threshold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::labels::parse;
    use crate::scoring::testing::{inventory, table};
    use laggard_core::model::metric::Metric;
    use laggard_core::model::time::Timestamp;
    use laggard_core::scores::ScoredWindow;

    fn judgement(length: i64, scores: &[[f32; 3]]) -> MetricScores {
        let verdict =
            |&score: &f32| MemberScore { score, threshold: 2.0, is_anomalous: score > 2.0, is_faulty: false };
        let windows = scores.iter().enumerate().map(|(number, scores)| ScoredWindow {
            window: Window {
                start: Timestamp::from_seconds(length * number as i64),
                length: Span::from_seconds(length),
            },
            scores: scores.iter().map(verdict).collect(),
        });
        MetricScores { metric: Metric::named("await").unwrap(), windows: windows.collect() }
    }

    #[test]
    fn windows_are_counted_against_the_labels_that_overlap_them() {
        let inventory = inventory(&["a:1", "a:2", "a:3"]);
        let text = "component,begin,end,cause\na:3,1970-01-01T00:01:00Z,1970-01-01T00:03:00Z,\n";
        let (truth, _) = Truth::new(&inventory, &parse(text).unwrap());
        let mut tally = WindowTally::new(&[Span::from_seconds(60)]);
        tally.take(
            &truth,
            0,
            &[0, 1, 2],
            &judgement(60, &[[0.0, 0.0, 5.0], [3.0, 0.0, 5.0], [0.0, f32::NAN, 1.0]]),
        );
        tally.take(&truth, 0, &[0, 1, 2], &judgement(61, &[[9.0; 3]]));
        let mut covered = Covered::new(&inventory);
        covered.take(&[table(&["a:1", "a:2", "a:3"], 15, &[[1.0; 12]; 3])]);
        let figures = &tally.figures(&truth, &covered)[0];
        assert_eq!(figures.delay.worst, Some(Span::from_seconds(60)));
        let expected =
            Confusion { true_positives: 1, false_positives: 2, false_negatives: 1, true_negatives: 4 };
        assert_eq!(figures.counts, expected);
        assert_eq!((figures.precision, figures.recall), (Some(1.0 / 3.0), Some(0.5)));
        let worst: Vec<usize> = tally.worst_mistaken(9).iter().map(|wrong| wrong.component).collect();
        assert_eq!((worst, tally.worst_missed(9)[0].verdict.score), (vec![2, 0], 1.0));
    }
}
