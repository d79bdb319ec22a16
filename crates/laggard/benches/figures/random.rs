//! Reproducible pseudo-random numbers.

/// splitmix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to 1.
    pub(crate) fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number from 0 up to `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.share() * end as f64) as usize
    }

    /// From `low` up to `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// From `low` up to `high`, log-uniform.
    pub(crate) fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// A number of independent events with this mean.
    pub(crate) fn count(&mut self, mean: f64) -> u64 {
        if mean > 16.0 {
            // The sum of four uniform numbers is nearly normal; scaled to the deviation of the count.
            let bell = (0..4).map(|_| self.share()).sum::<f64>() - 2.0;
            return (mean + bell * (3.0 * mean).sqrt()).round().max(0.0) as u64;
        }
        let (floor, mut product, mut events) = ((-mean).exp(), self.share(), 0);
        while product > floor {
            product *= self.share();
            events += 1;
        }
        events
    }
}
