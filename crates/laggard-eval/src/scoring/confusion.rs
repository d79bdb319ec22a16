//! Right and wrong, counted.

use serde::Serialize;

/// How often was said what, and what was true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// Said so, and it was.
    pub true_positives: u64,
    /// Said so, and it was not.
    pub false_positives: u64,
    /// Not said, though it was.
    pub false_negatives: u64,
    /// Not said, and it was not.
    pub true_negatives: u64,
}

impl Confusion {
    /// Counts one more.
    pub fn count(&mut self, is_said: bool, is_true: bool) {
        *match (is_said, is_true) {
            (true, true) => &mut self.true_positives,
            (true, false) => &mut self.false_positives,
            (false, true) => &mut self.false_negatives,
            (false, false) => &mut self.true_negatives,
        } += 1;
    }

    /// The share of what was said that was true. Nothing if nothing was said.
    pub fn precision(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_positives)
    }

    /// The share of what was true that was said. Nothing if nothing was true.
    pub fn recall(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_negatives)
    }

    /// Matthews' correlation coefficient. Nothing where one side never occurs.
    pub fn mcc(&self) -> Option<f64> {
        let [tp, fp, fn_, tn] =
            [self.true_positives, self.false_positives, self.false_negatives, self.true_negatives]
                .map(|n| n as f64);
        let sides = (tp + fp) * (tp + fn_) * (tn + fp) * (tn + fn_);
        (sides > 0.0).then(|| (tp * tn - fp * fn_) / sides.sqrt())
    }
}

/// A part of a whole. Nothing of nothing.
pub fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confusion(tp: u64, fp: u64, fn_: u64, tn: u64) -> Confusion {
        Confusion { true_positives: tp, false_positives: fp, false_negatives: fn_, true_negatives: tn }
    }

    #[test]
    fn all_right_is_one_and_all_wrong_is_minus_one() {
        assert_eq!(confusion(3, 0, 0, 7).mcc(), Some(1.0));
        assert_eq!(confusion(0, 7, 3, 0).mcc(), Some(-1.0));
    }

    #[test]
    fn a_known_table_has_its_known_figures() {
        let confusion = confusion(6, 2, 1, 3);
        assert_eq!((confusion.precision(), confusion.recall()), (Some(0.75), Some(6.0 / 7.0)));
        assert!((confusion.mcc().unwrap() - 16.0 / 1120f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn what_never_occurs_has_no_figure() {
        let nothing = confusion(0, 0, 0, 9);
        assert_eq!((nothing.precision(), nothing.recall(), nothing.mcc()), (None, None, None));
    }
}
