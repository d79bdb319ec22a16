//! Counts of right and wrong verdicts.

use serde::Serialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Confusion {
    pub true_positives: u64,
    pub false_positives: u64,
    pub false_negatives: u64,
    pub true_negatives: u64,
}

impl Confusion {
    pub fn count(&mut self, is_reported: bool, is_true: bool) {
        *match (is_reported, is_true) {
            (true, true) => &mut self.true_positives,
            (true, false) => &mut self.false_positives,
            (false, true) => &mut self.false_negatives,
            (false, false) => &mut self.true_negatives,
        } += 1;
    }

    /// `None` if nothing was reported.
    pub fn precision(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_positives)
    }

    /// `None` if nothing is faulty.
    pub fn recall(&self) -> Option<f64> {
        share(self.true_positives, self.true_positives + self.false_negatives)
    }

    /// Matthews' correlation coefficient. `None` if a row or a column of the table is empty.
    pub fn mcc(&self) -> Option<f64> {
        let [tp, fp, fn_, tn] =
            [self.true_positives, self.false_positives, self.false_negatives, self.true_negatives]
                .map(|n| n as f64);
        let sides = (tp + fp) * (tp + fn_) * (tn + fp) * (tn + fn_);
        (sides > 0.0).then(|| (tp * tn - fp * fn_) / sides.sqrt())
    }
}

/// `None` if the whole is 0.
pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confusion(tp: u64, fp: u64, fn_: u64, tn: u64) -> Confusion {
        Confusion { true_positives: tp, false_positives: fp, false_negatives: fn_, true_negatives: tn }
    }

    #[test]
    fn the_coefficient_is_1_if_all_is_right_and_minus_1_if_all_is_wrong() {
        assert_eq!(confusion(3, 0, 0, 7).mcc(), Some(1.0));
        assert_eq!(confusion(0, 7, 3, 0).mcc(), Some(-1.0));
    }

    #[test]
    fn rates_of_a_known_table() {
        let confusion = confusion(6, 2, 1, 3);
        assert_eq!((confusion.precision(), confusion.recall()), (Some(0.75), Some(6.0 / 7.0)));
        assert!((confusion.mcc().unwrap() - 16.0 / 1120f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn an_empty_row_has_no_rate() {
        let nothing = confusion(0, 0, 0, 9);
        assert_eq!((nothing.precision(), nothing.recall(), nothing.mcc()), (None, None, None));
    }
}
