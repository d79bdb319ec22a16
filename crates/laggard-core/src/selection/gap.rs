//! Two clusters of numbers, divided by the largest gap.

/// The indices of the lower and the higher values, if a gap clearly divides them: of at least `least`, with at least `fewest`
/// values on each side, and several times as wide as the values on each side usually differ.
pub(super) fn divided(values: &[f64], least: f64, fewest: usize) -> Option<(Vec<usize>, Vec<usize>)> {
    let mut order: Vec<usize> = (0..values.len()).filter(|&at| !values[at].is_nan()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let gaps = order.windows(2).map(|pair| values[pair[1]] - values[pair[0]]).enumerate();
    let allowed = gaps.filter(|(at, _)| (fewest..=order.len().saturating_sub(fewest)).contains(&(at + 1)));
    let (at, gap) = allowed.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (lower, higher) = order.split_at(at + 1);
    let of = |side: &[usize]| side.iter().map(|&at| values[at]).collect::<Vec<f64>>();
    let (below, above) = (of(lower), of(higher));
    let near = (&below[below.len() / 2..], &above[..above.len().div_ceil(2)]);
    let spread = spread(&below, near.0).max(spread(&above, near.1));
    let is_clear = gap >= least && gap >= CLEAR * spread;
    is_clear.then(|| (lower.to_vec(), higher.to_vec()))
}

/// The gap is this many standard deviations of either side wide.
const CLEAR: f64 = 3.0;

/// How much the values of a side usually differ. A side may consist of clusters itself: then the half near the gap shows it,
/// which has half of the deviation.
fn spread(side: &[f64], near: &[f64]) -> f64 {
    deviation(side).min(2.0 * deviation(near))
}

/// From the quartiles of sorted values, so that one that is far out, which may be faulty, does not count.
fn deviation(sorted: &[f64]) -> f64 {
    let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    (at(0.75) - at(0.25)) / 1.35
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clusters_are_divided_and_a_wide_one_is_not() {
        let (lower, higher) = divided(&[5.0, 1.0, 5.2, 1.1, 0.9, f64::NAN], 1.0, 2).unwrap();
        assert_eq!((lower, higher), (vec![4, 1, 3], vec![0, 2]));
        assert_eq!(divided(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.5, 2), None);
    }

    #[test]
    fn three_clusters_are_divided_at_the_largest_gap() {
        let values = [0.0, 0.1, 0.2, 9.8, 10.0, 10.1, 16.0, 16.1, 15.9];
        let (lower, higher) = divided(&values, 1.0, 3).unwrap();
        assert_eq!((lower, higher), (vec![0, 1, 2], vec![3, 4, 5, 8, 6, 7]));
    }

    #[test]
    fn one_that_is_far_out_does_not_hide_two_clusters() {
        let values = [1.0, 1.02, 0.98, 1.01, 0.99, 3.3, 1.4, 1.42, 1.38, 1.41];
        let (lower, higher) = divided(&values, 0.14, 3).unwrap();
        assert_eq!((lower.len(), higher.len()), (5, 5));
    }
}
