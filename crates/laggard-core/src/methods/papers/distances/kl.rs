//! The symmetric Kullback-Leibler divergence of histograms (FAST '10 paper, 10.1).
//!
//! Decisions where the paper is silent:
//! - A bin that is empty on one side would make the distance infinite. Every bin counts `empty_bin` samples more than it
//!   has: 0.5, the usual choice for estimating shares from counts. A stray sample then adds little, and two windows
//!   without a common bin have a finite distance (4.6 with 64 samples in 7 bins).
//! - In windows where any member misses a sample, missing samples have their own bin, so absence adds distance.

use laggard_kernels::bins::number;
use laggard_kernels::quartiles::Overview;
use laggard_kernels::rows::Rows;

use super::Distances;
use super::bins::BinRule;
use super::pairs;

/// The usual number of samples added to every bin.
pub const EMPTY_BIN: f64 = 0.5;

pub struct KlDistances {
    rule: BinRule,
    empty_bin: f64,
    overview: Overview,
    /// Bins of a histogram, the one for missing samples included.
    width: usize,
    /// Samples in each bin, member after member.
    counts: Vec<u16>,
    /// The logarithm of each possible count.
    logarithms: Vec<f64>,
    divisor: f64,
    scores: Vec<f32>,
}

impl KlDistances {
    pub fn new(rule: BinRule, empty_bin: f64) -> KlDistances {
        let empty_bin = if empty_bin > 0.0 { empty_bin } else { EMPTY_BIN };
        KlDistances {
            rule,
            empty_bin,
            overview: Overview::default(),
            width: 1,
            counts: Vec::new(),
            logarithms: Vec::new(),
            divisor: 1.0,
            scores: Vec::new(),
        }
    }

    fn count(&mut self, rows: Rows, fresh: usize) {
        let scale = self.rule.scale(rows, fresh, &mut self.overview);
        self.width = usize::from(scale.count) + 1;
        self.counts = vec![0; self.width * rows.count()];
        let mut numbers = vec![0; rows.columns()];
        for (row, counts) in rows.iter().zip(self.counts.chunks_exact_mut(self.width)) {
            number(row, scale, &mut numbers);
            numbers.iter().for_each(|&number| counts[usize::from(number)] += 1);
        }
    }

    fn score_all(&self) -> Vec<f32> {
        let members = self.counts.chunks_exact(self.width);
        let score = |one: &[u16]| {
            let mut apart: Vec<f64> = members.clone().map(|other| self.distance(one, other)).collect();
            pairs::score(&mut apart, f64::total_cmp) as f32
        };
        members.clone().map(score).collect()
    }

    /// Half the sum over bins of (p - q) (log p - log q): both divergences together, exactly symmetric.
    fn distance(&self, one: &[u16], other: &[u16]) -> f64 {
        let part = |(&a, &b): (&u16, &u16)| {
            let logarithms = self.logarithms[usize::from(a)] - self.logarithms[usize::from(b)];
            (f64::from(a) - f64::from(b)) * logarithms
        };
        one.iter().zip(other).map(part).fold(0.0, |sum, part| sum + part) / self.divisor
    }
}

impl Distances for KlDistances {
    fn measure(&mut self, rows: Rows, fresh: usize) {
        self.count(rows, fresh);
        let is_any_missing = self.counts.chunks_exact(self.width).any(|counts| counts[self.width - 1] > 0);
        let bins = self.width - usize::from(!is_any_missing);
        self.divisor = 2.0 * (rows.columns() as f64 + self.empty_bin * bins as f64);
        self.logarithms = (0..=rows.columns()).map(|count| (count as f64 + self.empty_bin).ln()).collect();
        self.scores = self.score_all();
    }

    fn scores(&mut self, scores: &mut Vec<f32>) {
        scores.clone_from(&self.scores);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(members: &[Vec<f64>]) -> Vec<f32> {
        let values = members.concat();
        let size = members[0].len();
        let mut distances = KlDistances::new(BinRule::Sturges, EMPTY_BIN);
        distances.measure(Rows::new(&values, size, 0, size), size);
        let mut scores = Vec::new();
        distances.scores(&mut scores);
        scores
    }

    fn ramp(from: f64) -> Vec<f64> {
        (0..64).map(|k| from + f64::from(k % 8)).collect()
    }

    #[test]
    fn windows_without_a_common_bin_have_a_finite_distance() {
        let scores = scores(&[vec![0.0; 64], vec![0.0; 64], vec![0.0; 64], vec![7.0; 64]]);
        assert_eq!(scores[..3], [0.0, 0.0, 0.0]);
        let share = |count: f64| (count + 0.5) / (64.0 + 0.5 * 7.0);
        let expected = (share(64.0) - share(0.0)) * (share(64.0).ln() - share(0.0).ln());
        assert!((f64::from(scores[3]) - expected).abs() < 1e-6, "{scores:?}");
    }

    #[test]
    fn a_stray_sample_adds_little() {
        let mut stray = ramp(0.0);
        stray[5] = 63.0;
        let mut peers = vec![ramp(0.0), ramp(0.0), ramp(0.0), stray];
        assert!(scores(&peers)[3] < 0.05);
        peers[3] = ramp(50.0);
        assert!(scores(&peers)[3] > 2.0);
    }

    #[test]
    fn absence_is_a_distance() {
        let mut half = ramp(0.0);
        half[..32].fill(f64::NAN);
        let scores = scores(&[ramp(0.0), ramp(0.0), ramp(0.0), half, vec![f64::NAN; 64]]);
        assert!(scores[3] > 0.3 && scores[4] > scores[3], "{scores:?}");
        assert!(scores[0] < 0.05);
    }
}
