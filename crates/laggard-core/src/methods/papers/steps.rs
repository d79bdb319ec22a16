//! Thresholds from the scores of fault-free data.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The thresholds that are tried, one after the other, until no anomaly is left; and the cushion on the last one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// The lowest threshold.
    pub first: f64,
    /// From one to the next.
    pub step: f64,
    /// What the one that is found is multiplied with.
    pub cushion: f64,
}

impl Steps {
    /// From 0.1 in steps of 0.1, then doubled (FAST '10 paper, 10.1).
    pub const DOUBLED: Steps = Steps { first: 0.1, step: 0.1, cushion: 2.0 };
    /// The same, not doubled: for `cwnd`.
    pub const PLAIN: Steps = Steps { cushion: 1.0, ..Steps::DOUBLED };

    /// The threshold after training on data whose highest score is this. NaN: no score at all.
    pub fn threshold(&self, highest: f64) -> f64 {
        self.cushion * self.lowest_over(highest)
    }

    /// The first step that is not below a score, without trying all those before it.
    fn lowest_over(&self, highest: f64) -> f64 {
        let at = |number: f64| self.first + number * self.step;
        let guess = ((highest - self.first) / self.step).ceil().max(0.0);
        // The division rounds: the step beside may be the one.
        let near = [guess - 1.0, guess, guess + 1.0].into_iter().filter(|number| *number >= 0.0).map(at);
        near.into_iter().find(|step| *step >= highest).unwrap_or_else(|| self.first.max(highest))
    }
}

/// The score that no window, or with a filter no k of 2k - 1 windows, has exceeded so far.
#[derive(Clone, Debug)]
pub struct Highest {
    needed: usize,
    recent: VecDeque<f32>,
    highest: f32,
}

impl Highest {
    /// Where so many of twice as many less one windows make an anomaly; 1: each window by itself.
    pub fn new(needed: usize) -> Highest {
        let needed = needed.max(1);
        Highest { needed, recent: VecDeque::with_capacity(2 * needed), highest: f32::NAN }
    }

    /// Takes the next window's score. NaN is none, and counts as not anomalous.
    pub fn push(&mut self, score: f32) {
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

    /// Forgets the last windows, not what they reached.
    pub fn gap(&mut self) {
        self.recent.clear();
    }

    /// The score. NaN: there was none.
    pub fn get(&self) -> f32 {
        self.highest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::papers::filter::Filter;
    use proptest::prelude::*;

    /// As the paper tells it.
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
    fn calm_data_give_the_lowest_threshold() {
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
