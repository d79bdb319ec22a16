//! All pairs, straightforward: the reference for tests and benchmarks.

use laggard_kernels::quartiles::Overview;
use laggard_kernels::rows::Rows;
use laggard_kernels::twin;

use super::bins::BinRule;
use super::pairs;

/// The cumulative counts of a row over the bins.
fn cumulative(row: &[f64], scale: laggard_kernels::bins::Scale) -> Vec<u32> {
    let mut counts = vec![0; usize::from(scale.count)];
    for &value in row.iter().filter(|value| !value.is_nan()) {
        counts[usize::from(twin::bin(value, scale))] += 1;
    }
    counts
        .iter()
        .scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        })
        .collect()
}

/// The distances of all members to all members, by their cumulative histograms.
pub fn cdf_distances(rows: Rows, rule: BinRule) -> Vec<Vec<u32>> {
    let scale = rule.scale(rows, rows.columns(), &mut Overview::default());
    let histograms: Vec<Vec<u32>> = rows.iter().map(|row| cumulative(row, scale)).collect();
    let distance = |one: &[u32], other: &[u32]| one.iter().zip(other).map(|(a, b)| a.abs_diff(*b)).sum();
    histograms.iter().map(|one| histograms.iter().map(|other| distance(one, other)).collect()).collect()
}

/// The score of each member.
pub fn cdf_scores(rows: Rows, rule: BinRule) -> Vec<u32> {
    cdf_distances(rows, rule).iter_mut().map(|distances| pairs::score(distances, u32::cmp)).collect()
}
