//! Imperfections of real recordings: lost samples and clock steps.

use std::ops::Range;

use laggard_core::model::random::Random;

/// The nuisances of one host's recording. Instants are numbers of samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Nuisances {
    missing: Vec<Range<u64>>,
    /// While the clock is off, and by how much: it steps away, and later back.
    step: Option<(Range<u64>, i64)>,
}

const SECOND_US: i64 = 1_000_000;

impl Nuisances {
    /// A run of minutes: a sample or two is lost on some hosts, and rarely a clock steps by a second. Hosts stay up.
    pub(super) fn of_a_bench(samples: u64, every_us: u64, random: &mut Random) -> Nuisances {
        let mut nuisances = Nuisances::default();
        let lost = if random.happens(0.3) { 1 + random.below(2) } else { 0 };
        nuisances.lose(lost, samples, random);
        // A clock that is off by less than an interval would only blur what it says.
        if random.happens(0.02) && every_us <= SECOND_US.unsigned_abs() {
            nuisances.step(samples, random);
        }
        nuisances
    }

    /// A day of production: some samples are lost, and clocks are corrected by a second now and then.
    pub(super) fn of_a_day(samples: u64, random: &mut Random) -> Nuisances {
        let mut nuisances = Nuisances::default();
        let lost = random.count(1.5) as usize;
        nuisances.lose(lost, samples, random);
        if random.happens(0.05) {
            nuisances.step(samples, random);
        }
        nuisances
    }

    fn lose(&mut self, count: usize, samples: u64, random: &mut Random) {
        let lost = (0..count).map(|_| random.below(samples as usize) as u64).map(|at| at..at + 1);
        self.missing.extend(lost);
    }

    fn step(&mut self, samples: u64, random: &mut Random) {
        let (from, to) = (random.below(samples as usize) as u64, random.below(samples as usize) as u64);
        let offset = if random.happens(0.5) { SECOND_US } else { -SECOND_US };
        self.step = Some((from.min(to).max(5)..from.max(to).min(samples.saturating_sub(5)), offset));
    }

    /// True if the sample is lost.
    pub(super) fn is_missing(&self, sample: u64) -> bool {
        self.missing.iter().any(|range| range.contains(&sample))
    }

    /// The clock error.
    pub(super) fn offset_us(&self, sample: u64) -> i64 {
        self.step.as_ref().filter(|(off, _)| off.contains(&sample)).map_or(0, |(_, offset)| *offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_samples_are_there_and_some_hosts_have_nuisances() {
        let of_host = |host| Nuisances::of_a_day(5760, &mut Random::of(1, &[host]));
        let all: Vec<Nuisances> = (0..1000).map(of_host).collect();
        let missing: usize = all.iter().map(|n| (0..5760).filter(|&s| n.is_missing(s)).count()).sum();
        assert!((1000..4000).contains(&missing), "{missing}");
        assert!(all.iter().any(|n| n.step.is_some()));
    }
}
