//! The highest sample of a window: the traditional alarm, without peers (`thresh` in the Intrepid paper, 5.3).

use laggard_kernels::rows::Rows;

use super::Distances;

#[derive(Default)]
pub struct PeakValues {
    scores: Vec<f32>,
}

impl Distances for PeakValues {
    fn measure(&mut self, rows: Rows, _fresh: usize) {
        // `max` skips NaN.
        self.scores = rows.iter().map(|row| row.iter().copied().fold(f64::NAN, f64::max) as f32).collect();
    }

    fn scores(&mut self, scores: &mut Vec<f32>) {
        scores.clone_from(&self.scores);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_highest_sample_there_is() {
        let values = [1.0, 5.0, f64::NAN, 2.0, f64::NAN, f64::NAN];
        let mut peaks = PeakValues::default();
        peaks.measure(Rows::new(&values, 2, 0, 2), 2);
        let mut scores = Vec::new();
        peaks.scores(&mut scores);
        assert_eq!(scores[..2], [5.0, 2.0]);
        assert!(scores[2].is_nan());
    }
}
