//! From a statistic of each component to its score.

use super::half::Halves;

/// The share of a group that is taken for its slow side's mirror image: one standard deviation below.
const BELOW: f64 = 0.16;

/// What a window says of a group, one statistic for each member.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// The mean of the slower half of its ratios. NaN: too few samples.
    pub slower: Vec<f64>,
    /// The mean of the faster half.
    pub faster: Vec<f64>,
    /// The error of these means.
    pub error: Vec<f64>,
}

/// Who is how far from the group.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    /// In units of the group's spread and the floor.
    pub score: Vec<f64>,
    /// The same, after as many errors were taken off as the number of looks demands.
    pub sure: Vec<f64>,
}

/// Scores: the distance from the median, over the spread of the better half and a floor.
///
/// The spread is taken from the better side only: up to a quarter of a group may be slow at once, and must not
/// hide each other.
pub fn scores(statistics: &Statistics, floor: f64, looks: usize) -> Scores {
    let distances = distances(statistics);
    let mut known = known(&distances);
    let (middle, below) = (quantile(&mut known, 0.5), quantile(&mut known, BELOW));
    let unit = (middle - below).max(0.0) + floor;
    // The largest of k normal deviates is about this many of their deviations.
    let errors = (2.0 * (looks.max(1) as f64).ln()).sqrt();
    let score: Vec<f64> = distances.iter().map(|distance| (distance - middle) / unit).collect();
    let off = statistics.error.iter().map(|error| errors * error / unit);
    Scores { sure: score.iter().zip(off).map(|(score, off)| score - off).collect(), score }
}

/// How much slower than the group's median the slower half is; less by how much faster the faster half is. What only
/// scatters more, to both sides, is not slow: so does one whose clock is a little off.
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

/// Of values whose order is changed, with linear interpolation. NaN if there are none.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    let at = share * last as f64;
    let (_, &mut below, rest) = values.select_nth_unstable_by(at.floor() as usize, f64::total_cmp);
    let above = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(below);
    below + at.fract() * (above - below)
}

/// The statistic of one component's samples, with the sums from which the error follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The means of the slower and the faster half.
    pub halves: Halves,
    /// The sum of the squared distances from the samples' mean.
    pub squares: f64,
    /// How many samples.
    pub samples: f64,
}

impl Cell {
    /// Of samples, whose order is changed. Nothing if there are none.
    pub fn of(samples: &mut Vec<f32>) -> Option<Cell> {
        let halves = Halves::of(samples)?;
        let count = samples.len() as f64;
        let mean = samples.iter().map(|&s| f64::from(s)).sum::<f64>() / count;
        let squares = samples.iter().map(|&s| (f64::from(s) - mean).powi(2)).sum();
        Some(Cell { halves, squares, samples: count })
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
        scores(&statistics, floor, 1).score
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
    fn who_only_scatters_more_is_not_slow() {
        let (slower, faster) = (vec![0.1, 0.1, 0.1, 0.6], vec![-0.1, -0.1, -0.1, -0.6]);
        let scores = scores(&Statistics { slower, faster, error: vec![0.0; 4] }, 0.15, 1).score;
        assert!(scores[3] < 0.1, "{scores:?}");
    }

    #[test]
    fn the_more_looks_the_more_it_takes() {
        let statistics = statistics(&[0.0, 0.0, 0.4], 0.1);
        let sure = |looks| scores(&statistics, 0.15, looks).sure[2];
        assert!(sure(1) > sure(2) && sure(2) > sure(1000));
        assert_eq!(sure(1), scores(&statistics, 0.15, 1).score[2]);
    }
}
