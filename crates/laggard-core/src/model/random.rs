//! Numbers that look random and are the same in every run, on every platform.

/// A generator (splitmix64). Logarithms come from a library of our own choice, not from the platform's: the last
/// bit of those differs between platforms.
#[derive(Clone, Debug)]
pub struct Random(u64);

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The generator of one thing: the same seed and the same numbers give the same generator.
    pub fn of(seed: u64, of: &[u64]) -> Random {
        let mixed = of.iter().fold(mix(seed), |state, &part| mix(state.wrapping_add(mix(part ^ GOLDEN))));
        Random(mixed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// From 0 up to 1.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether something of that probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// A whole number from 0 up to `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.share() * end as f64) as usize
    }

    /// From `low` up to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// From `low` up to `high`, as many in each decade.
    pub fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        libm::exp(self.between(libm::log(low), libm::log(high)))
    }

    /// Times between independent events of that mean distance.
    pub fn wait(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.share())
    }

    /// Nearly a bell of mean 0 and deviation 1: four even shares together. Never beyond 3.5.
    pub fn bell(&mut self) -> f64 {
        // Two draws of 64 bits hold four shares of 32.
        let (one, two) = (self.bits(), self.bits());
        let sum = (one >> 32) + (one & 0xffff_ffff) + (two >> 32) + (two & 0xffff_ffff);
        (sum as f64 / (1_u64 << 32) as f64 - 2.0) * 1.732_050_807_568_877_2
    }

    /// A factor around 1: its logarithm is a bell of that deviation.
    pub fn factor(&mut self, deviation: f64) -> f64 {
        libm::exp(self.bell() * deviation)
    }

    /// How many of independent events of that mean number happen.
    pub fn count(&mut self, mean: f64) -> u64 {
        if mean > 16.0 {
            return libm::rint(mean + self.bell() * mean.sqrt()).max(0.0) as u64;
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
    fn a_bell_has_a_deviation_of_one() {
        let mut random = Random::of(2, &[]);
        let squares: f64 = (0..50_000).map(|_| random.bell()).map(|b| b * b).sum();
        assert!((squares / 50_000.0 - 1.0).abs() < 0.03);
    }
}
