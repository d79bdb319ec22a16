//! Histograms of the scores of faulty and healthy windows, to try any threshold afterwards.

use super::confusion::Confusion;

/// Counts by the ratio of score to threshold.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    /// By bin: the number of healthy and of faulty windows.
    bins: Vec<[u64; 2]>,
}

/// Bins in a doubling of the score: a step of 4 %.
const IN_A_DOUBLING: f64 = 16.0;
/// From 1/64 to 64 times the threshold; the outermost bins also count everything outside.
const DOUBLINGS: f64 = 6.0;

impl Default for Sweep {
    fn default() -> Sweep {
        Sweep { bins: vec![[0; 2]; (2.0 * DOUBLINGS * IN_A_DOUBLING) as usize + 2] }
    }
}

impl Sweep {
    pub(super) fn count(&mut self, ratio: f64, is_true: bool) {
        let last = self.bins.len() - 1;
        let bin = if ratio > 0.0 { (ratio.log2() + DOUBLINGS) * IN_A_DOUBLING + 1.0 } else { 0.0 };
        // The cast saturates.
        self.bins[(bin as usize).min(last)][usize::from(is_true)] += 1;
    }

    /// The threshold with the highest correlation coefficient, as a multiple of the default, and that coefficient.
    pub(super) fn best_mcc(&self) -> Option<(f64, f64)> {
        let (mut above, mut best) = ([0, 0], None);
        let all = self.bins.iter().fold([0, 0], |sum, bin| [sum[0] + bin[0], sum[1] + bin[1]]);
        for (number, bin) in self.bins.iter().enumerate().rev() {
            above = [above[0] + bin[0], above[1] + bin[1]];
            let confusion = Confusion {
                true_positives: above[1],
                false_positives: above[0],
                false_negatives: all[1] - above[1],
                true_negatives: all[0] - above[0],
            };
            let scale = ((number as f64 - 1.0) / IN_A_DOUBLING - DOUBLINGS).exp2();
            best = confusion
                .mcc()
                .filter(|mcc| best.is_none_or(|(_, b)| *mcc > b))
                .map(|mcc| (scale, mcc))
                .or(best);
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_threshold_separates_faulty_from_healthy() {
        let mut sweep = Sweep::default();
        [0.1, 0.5, 0.9, 1.3].into_iter().for_each(|ratio| sweep.count(ratio, false));
        [1.7, 2.0, 90.0].into_iter().for_each(|ratio| sweep.count(ratio, true));
        let (scale, mcc) = sweep.best_mcc().unwrap();
        assert!(scale > 1.3 && scale <= 1.7, "{scale}");
        assert_eq!(mcc, 1.0);
    }

    #[test]
    fn infinite_negative_and_missing_scores_are_accepted() {
        let mut sweep = Sweep::default();
        for ratio in [f64::NAN, -1.0, 0.0, f64::INFINITY, f64::MIN_POSITIVE] {
            sweep.count(ratio, false);
        }
        assert_eq!(sweep.best_mcc(), None);
    }
}
