//! How much of a latency a different load explains.

/// Samples this far from a component's own mean are cut to it: a stall must not be taken for the price of load.
const MOST: f64 = 0.3;
/// Until this much load has varied, there is no telling: the slope stays near zero.
const LEAST_VARIED: f64 = 0.5;
/// What is known fades: after this many blocks it weighs 1/e.
const MEMORY_BLOCKS: f64 = 12.0;

/// The slope of log latency over log load within components, pooled over a peer group and over time.
///
/// Within components: one that is always slow and always loaded differently does not make the slope.
#[derive(Clone, Debug, Default)]
pub struct LoadSlope {
    together: f64,
    load: f64,
}

impl LoadSlope {
    /// Between nothing (load explains nothing) and proportion.
    pub fn slope(&self) -> f64 {
        (self.together / (self.load + LEAST_VARIED)).clamp(0.0, 1.0)
    }

    /// Learns from a block: for each component in turn, its ratios of latency and of load at the instants.
    pub fn learn<'a>(&mut self, components: impl Iterator<Item = (Vec<f64>, Vec<f64>)> + 'a) {
        let fade = (-1.0 / MEMORY_BLOCKS).exp();
        self.together *= fade;
        self.load *= fade;
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
            self.together += latency * load;
            self.load += load * load;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_within_components_is_found_whatever_their_levels() {
        let mut slope = LoadSlope::default();
        let load: Vec<f64> = (0..1000).map(|n| 0.2 * f64::from(n % 7 - 3) / 3.0).collect();
        let of = |level: f64| (load.iter().map(|l| level + 0.3 * l).collect(), load.clone());
        slope.learn([of(0.0), of(1.5), of(-0.2)].into_iter());
        assert!((slope.slope() - 0.3).abs() < 0.01, "{}", slope.slope());
    }

    #[test]
    fn without_load_nothing_is_explained() {
        let mut slope = LoadSlope::default();
        slope.learn([(vec![0.1, 0.2], vec![f64::NAN, f64::NAN])].into_iter());
        assert_eq!(slope.slope(), 0.0);
    }
}
