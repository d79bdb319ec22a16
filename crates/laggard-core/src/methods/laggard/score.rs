//! From the statistics of a window to the scores of the components.

use super::half_means::HalfMeans;

/// The quantile one standard deviation below the median. The fast side of the group gives the spread.
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

#[derive(Clone, Debug, Default)]
pub(super) struct GroupScores {
    /// The distance from the group, in units of its spread plus the floor.
    pub(super) scores: Vec<f64>,
    /// The scores minus the largest error expected in this many evaluations.
    pub(super) lower_bounds: Vec<f64>,
}

/// The distance from the median, divided by the spread of the faster side plus a floor. The spread of the faster side
/// only, because up to a quarter of a group may be slow and must not hide each other.
pub(super) fn scores(statistics: &Statistics, floor: f64, evaluations: usize) -> GroupScores {
    let distances = distances(statistics);
    let mut known = known(&distances);
    let (middle, below) = (quantile(&mut known, 0.5), quantile(&mut known, BELOW));
    let unit = (middle - below).max(0.0) + floor;
    // The largest of k normal deviates is about this many of their deviations.
    let errors = (2.0 * (evaluations.max(1) as f64).ln()).sqrt();
    let scores: Vec<f64> = distances.iter().map(|distance| (distance - middle) / unit).collect();
    let margins = statistics.error.iter().map(|error| errors * error / unit);
    let lower_bounds = scores.iter().zip(margins).map(|(score, margin)| score - margin).collect();
    GroupScores { scores, lower_bounds }
}

/// The distance of the slower half from the group's median, minus the distance of the faster half below it. A component
/// that only varies more, in both directions, is not slow: a skewed clock has this effect.
fn distances(statistics: &Statistics) -> Vec<f64> {
    let (slow, fast) = (median(&statistics.slower), median(&statistics.faster));
    let both = statistics.slower.iter().zip(&statistics.faster);
    both.map(|(slower, faster)| (slower - slow) + (faster - fast).min(0.0)).collect()
}

fn median(values: &[f64]) -> f64 {
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

    fn score(slower: &[f64], floor: f64) -> Vec<f64> {
        let statistics = statistics(slower, 0.0);
        scores(&statistics, floor, 1).scores
    }

    #[test]
    fn three_slow_of_twelve_do_not_hide_each_other() {
        let mut group = vec![0.0, 0.01, -0.01, 0.02, -0.02, 0.0, 0.01, -0.01, 0.0];
        group.extend([0.5, 0.6, 0.7]);
        let scores = score(&group, 0.15);
        assert!(scores[9..].iter().all(|s| *s > 2.0) && scores[..9].iter().all(|s| *s < 0.5), "{scores:?}");
    }

    #[test]
    fn the_wider_the_group_the_lower_the_score() {
        let narrow = score(&[0.0, 0.0, 0.0, 0.0, 0.5], 0.15);
        let wide = score(&[-0.4, -0.2, 0.0, 0.2, 0.5], 0.15);
        assert!(wide[4] < narrow[4] / 2.0);
    }

    #[test]
    fn a_component_that_only_varies_more_is_not_slow() {
        let (slower, faster) = (vec![0.1, 0.1, 0.1, 0.6], vec![-0.1, -0.1, -0.1, -0.6]);
        let scores = scores(&Statistics { slower, faster, error: vec![0.0; 4] }, 0.15, 1).scores;
        assert!(scores[3] < 0.1, "{scores:?}");
    }

    #[test]
    fn more_evaluations_lower_the_bound() {
        let statistics = statistics(&[0.0, 0.0, 0.4], 0.1);
        let bound = |evaluations| scores(&statistics, 0.15, evaluations).lower_bounds[2];
        assert!(bound(1) > bound(2) && bound(2) > bound(1000));
        assert_eq!(bound(1), scores(&statistics, 0.15, 1).scores[2]);
    }
}
