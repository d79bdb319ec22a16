//! Rates of small requests: a daily rhythm, and sources that are on and off for times with a heavy tail. The sum of such
//! sources varies at every time scale (Willinger et al., 1997), so means over an hour differ almost as much as means over
//! a minute.

use laggard_core::model::random::Random;

/// Sources that are active or silent for Pareto-distributed times, in seconds.
#[derive(Clone, Debug)]
pub(super) struct OnOff {
    /// The state of each source (true: active), and the second at which it ends.
    sources: Vec<(bool, f64)>,
    on: (f64, f64),
    off: (f64, f64),
}

/// No period is longer than this.
const LONGEST: f64 = 6.0 * 3600.0;

/// A Pareto-distributed time with this minimum and exponent.
pub(super) fn pareto(least: f64, exponent: f64, random: &mut Random) -> f64 {
    (least * libm::pow(1.0 - random.share(), -1.0 / exponent)).min(LONGEST)
}

impl OnOff {
    pub(super) fn new(count: usize, on: (f64, f64), off: (f64, f64), random: &mut Random) -> OnOff {
        let source = |_| {
            let is_on = random.happens(0.4);
            let (least, exponent) = if is_on { on } else { off };
            (is_on, pareto(least, exponent, random) * random.share())
        };
        OnOff { sources: (0..count).map(source).collect(), on, off }
    }

    /// The share of active sources.
    pub(super) fn step(&mut self, second: f64, random: &mut Random) -> f64 {
        let (on, off) = (self.on, self.off);
        for (is_on, until) in &mut self.sources {
            while *until <= second {
                *is_on = !*is_on;
                let (least, exponent) = if *is_on { on } else { off };
                *until += pareto(least, exponent, random);
            }
        }
        self.sources.iter().filter(|(is_on, _)| *is_on).count() as f64 / self.sources.len().max(1) as f64
    }
}

/// The daily rhythm: 1 on average, highest at 15:00 UTC.
pub(super) fn of_hour(second_of_day: f64) -> f64 {
    1.0 + 0.5 * libm::cos((second_of_day / 3600.0 - 15.0) / 24.0 * 2.0 * std::f64::consts::PI)
}

const OF_COMMON_LOAD: u64 = 111;
const OF_DISKS: u64 = 112;

/// The rhythm that all small requests share, for each second.
pub(super) fn common(seed: u64, seconds: u64, second_of_day: u64) -> Vec<f32> {
    let mut random = Random::of(seed, &[OF_COMMON_LOAD]);
    let mut sources = OnOff::new(16, (4.0, 1.4), (6.0, 1.4), &mut random);
    let at = |second: u64| {
        let share = sources.step(second as f64, &mut random);
        (of_hour((second_of_day + second) as f64) * (0.35 + 1.6 * share)) as f32
    };
    (0..seconds).map(at).collect()
}

/// The rate of small requests to one disk.
#[derive(Clone, Debug)]
pub(super) struct SmallLoad {
    base: f64,
    drift: f64,
    /// Its popularity now, from `drift`.
    popularity: f64,
    sources: OnOff,
    random: Random,
}

/// Popularity drifts to a new value within this time.
const DRIFT_SECONDS: u64 = 900;

impl SmallLoad {
    /// `base` is the mean rate of its kind of disk.
    pub(super) fn new(seed: u64, disk: u64, base: f64) -> SmallLoad {
        let mut random = Random::of(seed, &[OF_DISKS, disk]);
        let popularity = random.factor(0.18);
        let sources = OnOff::new(4, (3.0, 1.4), (4.0, 1.4), &mut random);
        SmallLoad { base: base * popularity, drift: 0.0, popularity: 1.0, sources, random }
    }

    pub(super) fn rate(&mut self, second: u64, common: f64) -> f64 {
        if second.is_multiple_of(DRIFT_SECONDS) {
            self.drift = 0.8 * self.drift + 0.06 * self.random.normal();
            self.popularity = libm::exp(self.drift);
        }
        let share = self.sources.step(second as f64, &mut self.random);
        self.base * common * self.popularity * (0.6 + share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The variance of means of independent values falls by the number of values; with long-range dependence it falls
    /// more slowly.
    #[test]
    fn load_varies_also_over_long_times() {
        let mut random = Random::of(3, &[]);
        let mut sources = OnOff::new(4, (3.0, 1.4), (4.0, 1.4), &mut random);
        let values: Vec<f64> = (0..200_000).map(|second| sources.step(second as f64, &mut random)).collect();
        let variance = |length: usize| {
            let means: Vec<f64> =
                values.chunks(length).map(|c| c.iter().sum::<f64>() / length as f64).collect();
            let mean = means.iter().sum::<f64>() / means.len() as f64;
            means.iter().map(|m| (m - mean) * (m - mean)).sum::<f64>() / means.len() as f64
        };
        let (short, long) = (variance(50), variance(2000));
        assert!(long / short > 3.0 / 40.0, "{short} {long}");
    }
}
