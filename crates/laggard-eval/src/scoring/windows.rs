//! Compares single windows with the labels.
//! In: scores of a method's first metric. Out: a [`Confusion`] for each window length, and the windows with the worst
//! wrong verdicts. Always: memory does not grow with the recording.

use std::collections::BTreeMap;

use laggard_core::model::time::Span;
use laggard_core::scores::Window;
use laggard_core::scores::{MemberScore, MetricScores};
use serde::Serialize;

use super::confusion::Confusion;
use super::sampled_time::SampledTime;
use super::stream::{Delay, FirstWindows, keep_first};
use super::sweep::Sweep;
use super::truth::Truth;
use laggard_core::model::metric::MetricId;

#[derive(Clone, Debug)]
pub(crate) struct WindowTally {
    lengths: BTreeMap<Span, LengthTally>,
    missed: BTreeMap<usize, WrongVerdict>,
    mistaken: BTreeMap<usize, WrongVerdict>,
}

#[derive(Clone, Debug, Default)]
struct LengthTally {
    counts: Confusion,
    first_windows: FirstWindows,
    sweep: Sweep,
}

/// A window whose verdict contradicts the labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WrongVerdict {
    /// Index of the component in the inventory.
    pub component: usize,
    /// Index of its peer group.
    pub group: usize,
    pub metric: MetricId,
    pub window: Window,
    pub verdict: MemberScore,
}

/// Results for windows of one length.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowScores {
    pub length: Span,
    #[serde(flatten)]
    pub counts: Confusion,
    /// The share of anomalous windows that are labelled as faulty.
    pub precision: Option<f64>,
    /// The share of labelled windows that are anomalous.
    pub recall: Option<f64>,
    /// Matthews' correlation coefficient.
    pub mcc: Option<f64>,
    /// With the threshold that is best in hindsight.
    pub best_mcc: Option<f64>,
    /// That threshold, as a multiple of the default.
    pub best_scale: Option<f64>,
    /// Time to the first anomalous window.
    pub delay: Delay,
}

impl WindowTally {
    pub(crate) fn new(lengths: &[Span]) -> WindowTally {
        let lengths = lengths.iter().map(|&length| (length, LengthTally::default())).collect();
        WindowTally { lengths, missed: BTreeMap::new(), mistaken: BTreeMap::new() }
    }

    /// Ignores windows of other lengths, such as those shortened by the end of the recording, and verdicts without a
    /// score.
    pub(crate) fn take(
        &mut self,
        truth: &Truth,
        group: usize,
        members: &[usize],
        metric_scores: &MetricScores,
    ) {
        for scored in &metric_scores.windows {
            let Some(tally) = self.lengths.get_mut(&scored.window.length) else { continue };
            for (&component, &verdict) in
                members.iter().zip(&scored.scores).filter(|(_, v)| !v.score.is_nan())
            {
                let is_true = truth.is_faulty_in(component, &scored.window);
                tally.counts.count(verdict.is_anomalous, is_true);
                tally.sweep.count(ratio(&verdict), is_true);
                let wrong = WrongVerdict {
                    component,
                    group,
                    metric: metric_scores.metric.id,
                    window: scored.window,
                    verdict,
                };
                match (verdict.is_anomalous, is_true) {
                    (true, false) => keep(&mut self.mistaken, wrong, |old, new| ratio(new) > ratio(old)),
                    (true, true) => tally.keep_first(truth, component, &scored.window),
                    (false, true) => keep(&mut self.missed, wrong, |old, new| ratio(new) < ratio(old)),
                    (false, false) => {}
                }
            }
        }
    }

    /// Shortest windows first.
    pub(crate) fn scores(&self, truth: &Truth, sampled_time: &SampledTime) -> Vec<WindowScores> {
        let scores = |(&length, LengthTally { counts, first_windows, sweep }): (&Span, &LengthTally)| {
            let best = sweep.best_mcc();
            WindowScores {
                length,
                counts: *counts,
                precision: counts.precision(),
                recall: counts.recall(),
                mcc: counts.mcc(),
                best_mcc: best.map(|(_, mcc)| mcc),
                best_scale: best.map(|(scale, _)| scale),
                delay: Delay::of_windows(first_windows, truth, sampled_time),
            }
        };
        self.lengths.iter().map(scores).collect()
    }

    /// The missed faulty components with the lowest scores, each with its lowest window.
    pub(crate) fn worst_missed(&self, few: usize) -> Vec<WrongVerdict> {
        let mut missed: Vec<WrongVerdict> = self.missed.values().copied().collect();
        missed.sort_by(|a, b| ratio(&a.verdict).total_cmp(&ratio(&b.verdict)));
        missed.truncate(few);
        missed
    }

    /// The healthy components with the highest scores, each with its highest window.
    pub(crate) fn worst_mistaken(&self, few: usize) -> Vec<WrongVerdict> {
        let mut mistaken: Vec<WrongVerdict> = self.mistaken.values().copied().collect();
        mistaken.sort_by(|a, b| ratio(&b.verdict).total_cmp(&ratio(&a.verdict)));
        mistaken.truncate(few);
        mistaken
    }
}

impl LengthTally {
    fn keep_first(&mut self, truth: &Truth, component: usize, window: &Window) {
        for (number, _) in truth.of(component).filter(|(_, fault)| fault.label.overlaps(window)) {
            keep_first(&mut self.first_windows, number, (window.end(), component));
        }
    }
}

fn keep(
    kept: &mut BTreeMap<usize, WrongVerdict>,
    new: WrongVerdict,
    is_worse: impl Fn(&MemberScore, &MemberScore) -> bool,
) {
    let old = kept.entry(new.component).or_insert(new);
    if is_worse(&old.verdict, &new.verdict) {
        *old = new;
    }
}

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

    fn metric_scores(length: i64, scores: &[[f32; 3]]) -> MetricScores {
        let verdict = |&score: &f32| MemberScore {
            score,
            threshold: 2.0,
            is_anomalous: score > 2.0,
            is_unlikely: false,
            is_faulty: false,
        };
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
            &metric_scores(60, &[[0.0, 0.0, 5.0], [3.0, 0.0, 5.0], [0.0, f32::NAN, 1.0]]),
        );
        tally.take(&truth, 0, &[0, 1, 2], &metric_scores(61, &[[9.0; 3]]));
        let mut sampled_time = SampledTime::new(&inventory);
        sampled_time.take(&[table(&["a:1", "a:2", "a:3"], 15, &[[1.0; 12]; 3])]);
        let scores = &tally.scores(&truth, &sampled_time)[0];
        assert_eq!(scores.delay.worst, Some(Span::from_seconds(60)));
        let expected =
            Confusion { true_positives: 1, false_positives: 2, false_negatives: 1, true_negatives: 4 };
        assert_eq!(scores.counts, expected);
        assert_eq!((scores.precision, scores.recall), (Some(1.0 / 3.0), Some(0.5)));
        let worst: Vec<usize> = tally.worst_mistaken(9).iter().map(|wrong| wrong.component).collect();
        assert_eq!((worst, tally.worst_missed(9)[0].verdict.score), (vec![2, 0], 1.0));
    }
}
