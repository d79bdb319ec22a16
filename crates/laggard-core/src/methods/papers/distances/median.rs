//! The distance of a member from the group's median at the same instants, summed over the window (Intrepid paper, 5.3).
//!
//! Missing samples add nothing, which the paper names as a weakness of the measure; a member without samples has no score.

use laggard_kernels::rows::Rows;

use super::Distances;

#[derive(Default)]
pub struct MedianDistances {
    scores: Vec<f32>,
}

/// Of an even number, between the middle two. NaN if there are no values.
pub fn median(values: &mut Vec<f64>) -> f64 {
    values.retain(|value| !value.is_nan());
    if values.is_empty() {
        return f64::NAN;
    }
    let middle = values.len() / 2;
    let is_odd = values.len() % 2 == 1;
    let (below, &mut high, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if is_odd {
        return high;
    }
    let low = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    low + (high - low) / 2.0
}

fn score(row: &[f64], medians: &[f64]) -> f32 {
    let apart = row.iter().zip(medians).filter(|(value, _)| !value.is_nan()).map(|(v, m)| (v - m).abs());
    apart.reduce(|sum, distance| sum + distance).map_or(f32::NAN, |sum| sum as f32)
}

impl Distances for MedianDistances {
    fn measure(&mut self, rows: Rows, _fresh: usize) {
        let mut column = Vec::with_capacity(rows.count());
        let mut medians = vec![0.0; rows.columns()];
        for (instant, place) in medians.iter_mut().enumerate() {
            column.clear();
            column.extend(rows.iter().map(|row| row[instant]));
            *place = median(&mut column);
        }
        self.scores = rows.iter().map(|row| score(row, &medians)).collect();
    }

    fn scores(&mut self, scores: &mut Vec<f32>) {
        scores.clone_from(&self.scores);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_sum_of_the_distances_from_the_median() {
        let values = [1.0, 2.0, 1.0, 4.0, 6.0, 2.0, f64::NAN, f64::NAN];
        let mut distances = MedianDistances::default();
        distances.measure(Rows::new(&values, 2, 0, 2), 2);
        let mut scores = Vec::new();
        distances.scores(&mut scores);
        assert_eq!(scores[..3], [0.0, 2.0, 5.0]);
        assert!(scores[3].is_nan());
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(&mut vec![4.0, f64::NAN, 1.0]), 2.5);
        assert!(median(&mut vec![f64::NAN]).is_nan());
    }
}
