//! The part of a latency that a different load explains.

/// Samples are clamped to this distance from the component's own mean, so that a stall is not attributed to load.
const MOST: f64 = 0.3;
/// Loads differ by at most this much, a quarter to four times: what a much larger difference does is not known from samples that
/// vary by a third.
const LARGEST_LOAD: f32 = 1.39;
/// The slope stays near the assumed one until the load has varied by this much.
const LEAST_VARIED: f64 = 0.5;
/// After this many blocks, an observation weighs 1/e.
const MEMORY_BLOCKS: f64 = 12.0;

/// The slope of log latency over log load within components, pooled over a peer group and over time.
///
/// Within components, so that one that is always slow and always loaded differently does not determine the slope.
#[derive(Clone, Debug)]
pub(super) struct LoadSlope {
    /// The slope, as long as nothing is known about it.
    assumed: f64,
    largest_load: f32,
    blocks: usize,
    covariance: f64,
    load_variance: f64,
}

/// The part of a logarithm of latency that the logarithm of a load explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Explained {
    slope: f64,
    largest_load: f32,
}

impl Explained {
    pub(super) fn by(self, load: f32) -> f32 {
        self.slope as f32 * load.clamp(-self.largest_load, self.largest_load)
    }
}

impl LoadSlope {
    /// Load is taken to explain nothing.
    pub(super) fn of_latency() -> LoadSlope {
        LoadSlope::assumed(0.0, LARGEST_LOAD)
    }

    /// A device's requests are taken to share its busy time, however many there are at a time.
    pub(super) fn of_busy_time() -> LoadSlope {
        LoadSlope::assumed(1.0, f32::INFINITY)
    }

    fn assumed(assumed: f64, largest_load: f32) -> LoadSlope {
        LoadSlope { assumed, largest_load, blocks: 0, covariance: 0.0, load_variance: 0.0 }
    }

    pub(super) fn explained(&self) -> Explained {
        Explained { slope: self.slope(), largest_load: self.largest_load }
    }

    /// From 0 (load explains nothing) to 1 (latency is proportional to load).
    fn slope(&self) -> f64 {
        let covariance = self.covariance + LEAST_VARIED * self.assumed;
        (covariance / (self.load_variance + LEAST_VARIED)).clamp(0.0, 1.0)
    }

    /// True if no block was learnt.
    pub(super) fn is_new(&self) -> bool {
        self.blocks == 0
    }

    /// Adds a block: for each component, its ratios of latency and of load at each instant.
    pub(super) fn learn<'a>(&mut self, components: impl Iterator<Item = (Vec<f64>, Vec<f64>)> + 'a) {
        let fade = (-1.0 / MEMORY_BLOCKS).exp();
        self.blocks += 1;
        self.covariance *= fade;
        self.load_variance *= fade;
        for (latency, load) in components {
            self.add(&latency, &load);
        }
    }

    fn add(&mut self, latency: &[f64], load: &[f64]) {
        let both = || latency.iter().zip(load).filter(|(a, b)| !a.is_nan() && !b.is_nan());
        let count = both().count() as f64;
        let (latency_mean, load_mean) =
            (both().map(|(a, _)| a).sum::<f64>() / count, both().map(|(_, b)| b).sum::<f64>() / count);
        for (latency, load) in both() {
            let latency = (latency - latency_mean).clamp(-MOST, MOST);
            let load = (load - load_mean).clamp(-MOST, MOST);
            self.covariance += latency * load;
            self.load_variance += load * load;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_within_components_is_found_whatever_their_levels() {
        let mut slope = LoadSlope::of_latency();
        let load: Vec<f64> = (0..1000).map(|n| 0.2 * f64::from(n % 7 - 3) / 3.0).collect();
        let of = |level: f64| (load.iter().map(|l| level + 0.3 * l).collect(), load.clone());
        slope.learn([of(0.0), of(1.5), of(-0.2)].into_iter());
        assert!((slope.slope() - 0.3).abs() < 0.01, "{}", slope.slope());
    }

    #[test]
    fn a_thousand_times_the_load_explains_no_more_than_four_times() {
        let explained = Explained { slope: 0.5, largest_load: LARGEST_LOAD };
        assert_eq!(explained.by(6.9), explained.by(1.39));
        assert_eq!(explained.by(-0.2), -0.1);
    }

    #[test]
    fn without_load_nothing_is_explained() {
        let mut slope = LoadSlope::of_latency();
        slope.learn([(vec![0.1, 0.2], vec![f64::NAN, f64::NAN])].into_iter());
        assert_eq!(slope.slope(), 0.0);
    }
}
