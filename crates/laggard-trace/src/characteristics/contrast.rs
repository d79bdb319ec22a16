//! What a property costs: latency of requests with it against those of the same size without it.

use serde::Serialize;

/// Doublings of the size.
const SIZES: usize = 64;
/// Fewer requests on either side say nothing.
const FEWEST: u64 = 8;

/// Latencies by size, without and with the property.
#[derive(Clone, Debug)]
pub struct Contrast {
    sums: Box<[[(u64, u64); 2]; SIZES]>,
}

impl Default for Contrast {
    fn default() -> Contrast {
        Contrast { sums: Box::new([[(0, 0); 2]; SIZES]) }
    }
}

/// What is told of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ContrastFigures {
    /// The share of requests with the property.
    pub share: f64,
    /// How much longer one with it takes than one without, at the same size; none where too few can be compared.
    pub penalty_ns: Option<f64>,
    /// How long those without take in the mean, weighted like the penalty.
    pub without_ns: Option<f64>,
}

impl Contrast {
    /// One more request.
    pub fn add(&mut self, nbytes: u64, has_it: bool, latency_ns: u64) {
        let size = nbytes.checked_ilog2().unwrap_or(0) as usize;
        let (count, sum) = &mut self.sums[size][usize::from(has_it)];
        *count += 1;
        *sum += latency_ns;
    }

    /// What it costs.
    pub fn figures(&self) -> ContrastFigures {
        let count = |which: usize| self.sums.iter().map(|size| size[which].0).sum::<u64>();
        let (without, with) = (count(0), count(1));
        let (mut weight, mut penalty, mut plain) = (0.0, 0.0, 0.0);
        for [(few, few_ns), (many, many_ns)] in self.sums.iter() {
            if *few >= FEWEST && *many >= FEWEST {
                let (mean_without, mean_with) =
                    (*few_ns as f64 / *few as f64, *many_ns as f64 / *many as f64);
                weight += *many as f64;
                penalty += *many as f64 * (mean_with - mean_without);
                plain += *many as f64 * mean_without;
            }
        }
        ContrastFigures {
            share: with as f64 / ((with + without) as f64).max(1.0),
            penalty_ns: (weight > 0.0).then(|| penalty / weight),
            without_ns: (weight > 0.0).then(|| plain / weight),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_penalty_is_told_at_equal_size_only() {
        let mut contrast = Contrast::default();
        for _ in 0..10 {
            contrast.add(4096, false, 100);
            contrast.add(4096, true, 150);
            contrast.add(1 << 20, true, 9000);
        }
        let figures = contrast.figures();
        assert_eq!((figures.penalty_ns, figures.without_ns), (Some(50.0), Some(100.0)));
        assert!((figures.share - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(Contrast::default().figures().penalty_ns, None);
    }
}
