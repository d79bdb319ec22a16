//! The sampled instants of a recording, and its gaps.

use std::collections::BTreeMap;

use super::schedule::SamplingSchedule;
use crate::model::time::Timestamp;

/// The sampled instants, as multiples of the interval since 1970.
#[derive(Clone, Debug)]
pub struct Coverage {
    schedule: SamplingSchedule,
    /// Bits, by the number of their block: sparse, because recordings may be years apart.
    blocks: BTreeMap<i64, Block>,
}

type Block = [u64; WORDS];

const WORDS: usize = 64;
const INSTANTS_PER_BLOCK: i64 = WORDS as i64 * 64;

/// A period without samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last sample before it.
    pub from: Timestamp,
    /// The first sample after it.
    pub to: Timestamp,
}

impl Coverage {
    pub fn new(schedule: SamplingSchedule) -> Coverage {
        Coverage { schedule, blocks: BTreeMap::new() }
    }

    /// Marks the instants nearest to these times.
    pub fn add(&mut self, times: &[i64]) {
        let (every, phase) = (self.schedule.every.micros(), self.schedule.phase.micros());
        let mut left = times
            .iter()
            .map(|time| time.saturating_sub(phase).saturating_add(every / 2).div_euclid(every))
            .peekable();
        while let Some(&first) = left.peek() {
            let number = first.div_euclid(INSTANTS_PER_BLOCK);
            let block = self.blocks.entry(number).or_insert([0; WORDS]);
            while let Some(instant) = left.next_if(|i| i.div_euclid(INSTANTS_PER_BLOCK) == number) {
                let bit = instant.rem_euclid(INSTANTS_PER_BLOCK);
                block[(bit / 64) as usize] |= 1 << (bit % 64);
            }
        }
    }

    /// The number of sampled instants.
    pub fn samples(&self) -> u64 {
        self.blocks.values().flatten().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Between the first sample and the last.
    pub fn gaps(&self) -> Vec<Gap> {
        let mut gaps = Vec::new();
        let mut before: Option<i64> = None;
        for instant in self.instants() {
            if let Some(before) = before.filter(|before| instant - before > 1) {
                gaps.push(Gap { from: self.time(before), to: self.time(instant) });
            }
            before = Some(instant);
        }
        gaps
    }

    /// The number of missing instants in a gap.
    pub fn missing(&self, gap: Gap) -> u64 {
        ((gap.to - gap.from).micros() / self.schedule.every.micros() - 1).unsigned_abs()
    }

    fn time(&self, instant: i64) -> Timestamp {
        Timestamp::from_micros(instant.saturating_mul(self.schedule.every.micros()))
    }

    fn instants(&self) -> impl Iterator<Item = i64> + '_ {
        let bits = |(number, block): (&i64, &Block)| {
            let (start, block) = (number * INSTANTS_PER_BLOCK, *block);
            (0..INSTANTS_PER_BLOCK)
                .filter(move |bit| block[(bit / 64) as usize] >> (bit % 64) & 1 == 1)
                .map(move |bit| start + bit)
        };
        self.blocks.iter().flat_map(bits)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::time::Span;
    use proptest::prelude::{prop_assert_eq, proptest};

    fn coverage(seconds: &[i64]) -> Coverage {
        let mut coverage = Coverage::new(SamplingSchedule::on_grid(Span::SECOND));
        coverage.add(&seconds.iter().map(|s| s * 1_000_000).collect::<Vec<_>>());
        coverage
    }

    #[test]
    fn a_gap_is_where_an_instant_is_missing() {
        let coverage = coverage(&[10, 11, 14, 15, 11]);
        let gap = Gap { from: Timestamp::from_seconds(11), to: Timestamp::from_seconds(14) };
        assert_eq!(coverage.gaps(), [gap]);
        assert_eq!((coverage.samples(), coverage.missing(gap)), (4, 2));
    }

    #[test]
    fn recordings_may_be_years_apart() {
        let coverage = coverage(&[0, 1_000_000_000]);
        assert_eq!((coverage.samples(), coverage.gaps().len()), (2, 1));
    }

    #[test]
    fn times_at_the_ends_of_the_range_do_no_harm() {
        let mut coverage = Coverage::new(SamplingSchedule::on_grid(Span::SECOND));
        coverage.add(&[i64::MIN, i64::MAX]);
        assert_eq!(coverage.samples(), 2);
        coverage.gaps();
    }

    proptest! {
        #[test]
        fn it_equals_a_plain_set(seconds in proptest::collection::vec(-10_000..10_000i64, 0..200)) {
            let coverage = coverage(&seconds);
            let set: BTreeSet<i64> = seconds.iter().copied().collect();
            prop_assert_eq!(coverage.instants().collect::<Vec<_>>(), set.iter().copied().collect::<Vec<_>>());
            let gaps = set.iter().zip(set.iter().skip(1)).filter(|(a, b)| *b - *a > 1).count();
            prop_assert_eq!(coverage.gaps().len(), gaps);
        }
    }
}
