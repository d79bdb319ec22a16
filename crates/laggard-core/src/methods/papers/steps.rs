//! Thresholds from the scores of fault-free data.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Candidate thresholds, tried in order until no anomaly is left; the last one is multiplied by the cushion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    pub first: f64,
    pub step: f64,
    pub cushion: f64,
}

impl Steps {
    /// From 0.1 in steps of 0.1, then doubled (FAST '10 paper, 10.1).
    pub const DOUBLED: Steps = Steps { first: 0.1, step: 0.1, cushion: 2.0 };
    /// The same, not doubled: for `cwnd`.
    pub const PLAIN: Steps = Steps { cushion: 1.0, ..Steps::DOUBLED };

    /// The threshold after training on data with this highest score. NaN: there was no score.
    pub fn threshold(&self, highest: f64) -> f64 {
        self.cushion * self.lowest_over(highest)
    }

    /// The first step that is not below the score, without trying all of them.
    fn lowest_over(&self, highest: f64) -> f64 {
        let at = |number: f64| self.first + number * self.step;
        let guess = ((highest - self.first) / self.step).ceil().max(0.0);
        // The division rounds: the neighbouring step may be the right one.
        let near = [guess - 1.0, guess, guess + 1.0].into_iter().filter(|number| *number >= 0.0).map(at);
        near.into_iter().find(|step| *step >= highest).unwrap_or_else(|| self.first.max(highest))
    }
}

/// The highest score so far that a window has, or with a filter, k of 2k - 1 windows have.
#[derive(Clone, Debug)]
pub(super) struct Highest {
    needed: usize,
    recent: VecDeque<f32>,
    highest: f32,
}

impl Highest {
    /// `needed` of `2 * needed - 1` windows; 1: each window alone.
    pub(super) fn new(needed: usize) -> Highest {
        let needed = needed.max(1);
        Highest { needed, recent: VecDeque::with_capacity(2 * needed), highest: f32::NAN }
    }

    /// Adds the score of the next window. NaN counts as not anomalous.
    pub(super) fn push(&mut self, score: f32) {
        if self.recent.len() == 2 * self.needed - 1 {
            self.recent.pop_front();
        }
        self.recent.push_back(score);
        let mut recent: Vec<f32> = self.recent.iter().copied().filter(|score| !score.is_nan()).collect();
        recent.sort_by(|a, b| b.total_cmp(a));
        if let Some(reached) = recent.get(self.needed - 1) {
            self.highest = self.highest.max(*reached);
        }
    }

    /// Forgets the last windows, but not the highest score.
    pub(super) fn gap(&mut self) {
        self.recent.clear();
    }

    /// NaN: there was no score.
    pub(super) fn get(&self) -> f32 {
        self.highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::papers::filter::Filter;
    use proptest::prelude::*;

    /// As described in the paper.
    fn stepping(scores: &[f32], needed: usize, steps: Steps) -> f64 {
        let is_calm = |threshold: f64| {
            let mut filter = Filter::new(needed, 1);
            !scores.iter().fold(false, |any, &score| filter.push(0, f64::from(score) > threshold) | any)
        };
        let mut number = 0;
        while !is_calm(steps.first + f64::from(number) * steps.step) {
            number += 1;
        }
        steps.cushion * (steps.first + f64::from(number) * steps.step)
    }

    proptest! {
        #[test]
        fn the_threshold_is_the_one_that_stepping_finds(
            scores in proptest::collection::vec(
                prop_oneof![(0.0f32..30.0), (0u8..200).prop_map(|n| f32::from(n) / 10.0), Just(f32::NAN)], 0..40),
            needed in 1usize..4,
        ) {
            let mut highest = Highest::new(needed);
            scores.iter().for_each(|&score| highest.push(score));
            let closed = Steps::DOUBLED.threshold(f64::from(highest.get()));
            prop_assert_eq!(closed, stepping(&scores, needed, Steps::DOUBLED));
        }
    }

    #[test]
    fn data_without_anomalies_give_the_lowest_threshold() {
        assert_eq!(Steps::DOUBLED.threshold(f64::NAN), 0.2);
        assert_eq!(Steps::PLAIN.threshold(0.0), 0.1);
    }

    #[test]
    fn whole_scores_are_doubled_and_huge_ones_do_no_harm() {
        assert!((Steps::DOUBLED.threshold(60.0) - 120.0).abs() < 1e-9);
        assert!(Steps::DOUBLED.threshold(1e30) >= 2e30);
        assert_eq!(Steps::DOUBLED.threshold(f64::INFINITY), f64::INFINITY);
    }
}
