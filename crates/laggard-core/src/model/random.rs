//! Pseudo-random numbers that are the same in every run and on every platform.

/// A splitmix64 generator. Logarithms come from `libm`, because the last bit of the platform's differs.
#[derive(Clone, Debug)]
pub struct Random(u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The same seed and the same numbers give the same generator.
    pub fn of(seed: u64, of: &[u64]) -> Random {
        let mixed = of.iter().fold(mix(seed), |state, &part| mix(state.wrapping_add(mix(part ^ GOLDEN))));
        Random(mixed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// From 0 up to 1.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// An integer from 0 to `end - 1`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.share() * end as f64) as usize
    }

    /// From `low` up to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// From `low` up to `high`, with equal probability for each decade.
    pub fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        libm::exp(self.between(libm::log(low), libm::log(high)))
    }

    /// The time to the next independent event, given the mean time between events.
    pub fn wait(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.share())
    }

    /// Nearly normal with mean 0 and deviation 1: the sum of four uniform numbers. Never beyond 3.5.
    pub fn normal(&mut self) -> f64 {
        // Two draws of 64 bits hold four shares of 32.
        let (one, two) = (self.bits(), self.bits());
        let sum = (one >> 32) + (one & 0xffff_ffff) + (two >> 32) + (two & 0xffff_ffff);
        (sum as f64 / (1_u64 << 32) as f64 - 2.0) * 1.732_050_807_568_877_2
    }

    /// A factor around 1 whose logarithm is normal with this deviation.
    pub fn factor(&mut self, deviation: f64) -> f64 {
        libm::exp(self.normal() * deviation)
    }

    /// The number of independent events, given its mean.
    pub fn count(&mut self, mean: f64) -> u64 {
        if mean > 16.0 {
            return libm::rint(mean + self.normal() * mean.sqrt()).max(0.0) as u64;
        }
        if mean <= 0.0 {
            return 0;
        }
        let (floor, mut product, mut events) = (libm::exp(-mean), self.share(), 0);
        while product > floor {
            product *= self.share();
            events += 1;
        }
        events
    }
}

fn mix(bits: u64) -> u64 {
    let mixed = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |seed, of: &[u64]| {
            let mut random = Random::of(seed, of);
            [random.bits(), random.bits()]
        };
        assert_eq!(draw(1, &[2, 3]), draw(1, &[2, 3]));
        assert_ne!(draw(1, &[2, 3]), draw(1, &[3, 2]));
        assert_ne!(draw(1, &[]), draw(2, &[]));
    }

    #[test]
    fn counts_have_their_mean() {
        let mut random = Random::of(1, &[]);
        for mean in [0.3, 4.0, 90.0] {
            let total: u64 = (0..20_000).map(|_| random.count(mean)).sum();
            let found = total as f64 / 20_000.0;
            assert!((found / mean - 1.0).abs() < 0.03, "{mean}: {found}");
        }
    }

    #[test]
    fn normal_numbers_have_a_deviation_of_one() {
        let mut random = Random::of(2, &[]);
        let squares: f64 = (0..50_000).map(|_| random.normal()).map(|n| n * n).sum();
        assert!((squares / 50_000.0 - 1.0).abs() < 0.03);
    }
}
