//! From the statistics of a window to the scores of the components.

use super::half_means::HalfMeans;

/// The quantile one standard deviation below the median.
const BELOW: f64 = 0.16;

/// The statistics of a window, one value for each member.
#[derive(Clone, Debug, Default)]
pub(super) struct Statistics {
    /// The mean of the slower half of the ratios. NaN: too few samples.
    pub(super) slower: Vec<f64>,
    pub(super) faster: Vec<f64>,
    /// The error of these means.
    pub(super) error: Vec<f64>,
}

impl Statistics {
    /// The middle of each member's ratios, relative to the group's.
    pub(super) fn middles(&self) -> Vec<f64> {
        let halves = self.slower.iter().zip(&self.faster);
        let mut middles: Vec<f64> = halves.map(|(slower, faster)| (slower + faster) / 2.0).collect();
        let group = median(&middles);
        middles.iter_mut().for_each(|middle| *middle -= group);
        middles
    }
}

/// The distance of each member from the group.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Distances {
    /// From the median member; positive is slower. NaN: too few samples.
    pub(super) distances: Vec<f64>,
    /// The error of each.
    pub(super) error: Vec<f64>,
}

impl Distances {
    pub(super) fn of(statistics: Statistics) -> Distances {
        Distances::above(statistics, f64::NEG_INFINITY)
    }

    /// Of ratios that are lower bounds. A member whose bound is close is no slower than those whose bounds are far off.
    pub(super) fn of_bounds(statistics: Statistics) -> Distances {
        Distances::above(statistics, 0.0)
    }

    /// From the group's median, or from `least` if that is less.
    fn above(statistics: Statistics, least: f64) -> Distances {
        let mut distances = uncentred(&statistics, least);
        let middle = median(&distances).max(least);
        distances.iter_mut().for_each(|distance| *distance -= middle);
        Distances { distances, error: statistics.error }
    }

    /// How much faster than the median the faster members are. Up to a quarter of a group may be slow, and slow members
    /// must not hide each other: only the faster side shows what is ordinary.
    pub(super) fn faster(&self) -> impl Iterator<Item = f64> + '_ {
        self.distances.iter().filter(|distance| **distance < 0.0).map(|distance| -distance)
    }

    /// The spread of the faster side, and the number of its members.
    pub(super) fn faster_spread(&self) -> (f64, usize) {
        let below = -quantile(&mut known(&self.distances), BELOW);
        (below.max(0.0), self.faster().count())
    }

    /// Each distance minus the largest error expected in this many evaluations.
    pub(super) fn lower_bounds(&self, evaluations: usize) -> impl Iterator<Item = f64> + '_ {
        // The largest of k normal deviates is about this many of their deviations.
        let errors = (2.0 * (evaluations.max(1) as f64).ln()).sqrt();
        self.distances.iter().zip(&self.error).map(move |(distance, error)| distance - errors * error)
    }
}

/// The distance of the slower half from the group's median, minus the distance of the faster half below it. A component
/// that only varies more, in both directions, is not slow: a skewed clock has this effect.
fn uncentred(statistics: &Statistics, least: f64) -> Vec<f64> {
    let (slow, fast) = (median(&statistics.slower).max(least), median(&statistics.faster));
    let both = statistics.slower.iter().zip(&statistics.faster);
    both.map(|(slower, faster)| (slower - slow) + (faster - fast).min(0.0)).collect()
}

pub(super) fn median(values: &[f64]) -> f64 {
    quantile(&mut known(values), 0.5)
}

fn known(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| !value.is_nan()).collect()
}

/// With linear interpolation; reorders the values. NaN if there are none.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let at = share * last as f64;
    let (_, &mut below, rest) = values.select_nth_unstable_by(at.floor() as usize, f64::total_cmp);
    let above = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(below);
    below + at.fract() * (above - below)
}

/// The statistics of one component's samples in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MemberStatistics {
    pub(super) means: HalfMeans,
    /// The sum of the squared distances from the samples' mean.
    pub(super) squares: f64,
    /// The number of samples.
    pub(super) samples: f64,
}

impl MemberStatistics {
    /// Sorts the samples. None if there are none.
    pub(super) fn of(samples: &mut Vec<f32>) -> Option<MemberStatistics> {
        let means = HalfMeans::of(samples)?;
        let count = samples.len() as f64;
        let mean = samples.iter().map(|&s| f64::from(s)).sum::<f64>() / count;
        let squares = samples.iter().map(|&s| (f64::from(s) - mean).powi(2)).sum();
        Some(MemberStatistics { means, squares, samples: count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(slower: &[f64], error: f64) -> Statistics {
        Statistics { slower: slower.to_vec(), faster: slower.to_vec(), error: vec![error; slower.len()] }
    }

    #[test]
    fn slow_members_do_not_widen_the_spread() {
        let mut group = vec![0.0, 0.01, -0.01, 0.02, -0.02, 0.0, 0.01, -0.01, 0.0];
        let calm = Distances::of(statistics(&group, 0.0)).faster_spread().0;
        group.extend([0.5, 0.6, 0.7]);
        let slow = Distances::of(statistics(&group, 0.0));
        assert!(slow.faster_spread().0 < 3.0 * calm, "{slow:?}");
        assert!(slow.distances[9..].iter().all(|distance| *distance > 0.4));
    }

    #[test]
    fn a_component_that_only_varies_more_is_not_slow() {
        let (slower, faster) = (vec![0.1, 0.1, 0.1, 0.6], vec![-0.1, -0.1, -0.1, -0.6]);
        let distances = Distances::of(Statistics { slower, faster, error: vec![0.0; 4] });
        assert!(distances.distances[3] < 0.02, "{distances:?}");
    }

    #[test]
    fn a_bound_that_is_close_is_no_larger_than_its_distance_from_the_peers_time() {
        let distances = Distances::of_bounds(statistics(&[-0.9, -0.7, -0.8, 0.1], 0.0));
        assert!((distances.distances[3] - 0.1).abs() < 1e-9, "{distances:?}");
    }

    #[test]
    fn more_evaluations_lower_the_bound() {
        let distances = Distances::of(statistics(&[0.0, 0.0, 0.4], 0.1));
        let bound = |evaluations| distances.lower_bounds(evaluations).last().unwrap();
        assert!(bound(1) > bound(2) && bound(2) > bound(1000));
        assert_eq!(bound(1), distances.distances[2]);
    }
}
