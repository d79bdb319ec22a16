//! Fewer points than there are values, with nothing that stands out lost: the smallest and the largest of each
//! stretch are kept.

use std::ops::Range;

/// The smallest and largest value of a stretch, in the order in which they came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes {
    /// The earlier one.
    pub first: f64,
    /// The later one.
    pub second: f64,
}

/// Cuts `len` values into at most `count` stretches of nearly equal length.
pub fn stretches(len: usize, count: usize) -> impl Iterator<Item = Range<usize>> {
    let count = count.clamp(1, len.max(1));
    (0..count).map(move |k| at(len, k, count)..at(len, k + 1, count)).filter(|range| !range.is_empty())
}

fn at(len: usize, k: usize, count: usize) -> usize {
    (len as u128 * k as u128 / count as u128) as usize
}

/// The extremes of the finite values.
pub fn extremes(values: &[f64]) -> Option<Extremes> {
    let finite = || values.iter().copied().enumerate().filter(|(_, value)| value.is_finite());
    let low = finite().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let high = finite().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (first, second) = if low.0 <= high.0 { (low, high) } else { (high, low) };
    Some(Extremes { first: first.1, second: second.1 })
}

/// The smallest finite value.
pub fn lowest(values: &[f64]) -> Option<f64> {
    values.iter().copied().filter(|v| v.is_finite()).min_by(f64::total_cmp)
}

/// The largest finite value.
pub fn highest(values: &[f64]) -> Option<f64> {
    values.iter().copied().filter(|v| v.is_finite()).max_by(f64::total_cmp)
}

/// The mean of the finite values.
pub fn mean(values: &[f64]) -> Option<f64> {
    let finite = || values.iter().filter(|v| v.is_finite());
    let count = finite().count() as f64;
    // Divided one by one: the sum of huge values may be no number.
    (count > 0.0).then(|| finite().map(|v| v / count).sum())
}

/// The part of `values` in a range that may reach beyond its end.
pub fn part(values: &[f64], range: Range<usize>) -> &[f64] {
    let end = range.end.min(values.len());
    &values[range.start.min(end)..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_cover_everything_once() {
        for (len, count) in [(10, 3), (3, 10), (0, 5), (1, 1), (7, 7), (5, 0)] {
            let covered: Vec<usize> = stretches(len, count).flatten().collect();
            assert_eq!(covered, (0..len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_spike_survives_in_its_order() {
        let falling = extremes(&[1.0, f64::NAN, 9.0, 0.5, 1.0]);
        assert_eq!(falling, Some(Extremes { first: 9.0, second: 0.5 }));
        assert_eq!(extremes(&[f64::NAN]), None);
    }

    #[test]
    fn means_of_huge_values_are_finite() {
        assert!(mean(&[f64::MAX, f64::MAX]).unwrap().is_finite());
        assert_eq!(mean(&[]), None);
        assert_eq!(part(&[1.0, 2.0], 1..5), [2.0]);
        assert!(part(&[1.0], 3..5).is_empty());
    }
}
