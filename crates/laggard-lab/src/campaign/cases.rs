//! The cases of a campaign: every node set with every fault, and a control without a fault.

use super::config::{Config, Order};
use crate::runner::case::Case;
use laggard_core::model::random::Random;

/// All cases in the order in which they run: repeat by repeat, so that a campaign which ends early has some of each.
pub(super) fn of(config: &Config) -> Vec<Case> {
    (1..=config.repeats).flat_map(|repeat| of_repeat(config, repeat)).collect()
}

fn of_repeat(config: &Config, repeat: u32) -> Vec<Case> {
    let control = config.has_control.then(|| ("none".to_owned(), vec![], None));
    let pairs = config.chosen.iter().flat_map(|fault| {
        let sets = config.node_sets.iter();
        sets.map(move |(name, faulted)| (name.clone(), faulted.clone(), Some(fault.clone())))
    });
    let mut cases: Vec<Case> = control
        .into_iter()
        .chain(pairs)
        .map(|(nodes, faulted, fault)| Case { nodes, faulted, fault, repeat, seed: 0 })
        .collect();
    for case in &mut cases {
        let of = case.name().bytes().map(u64::from).collect::<Vec<u64>>();
        // Half of the bits are enough, and easier to type.
        case.seed = Random::of(config.seed, &of).bits() >> 32;
    }
    if config.order == Order::Shuffled {
        let mut random = Random::of(config.seed, &[u64::from(repeat)]);
        for place in (1..cases.len()).rev() {
            cases.swap(place, random.below(place + 1));
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::super::testing::config;
    use super::*;

    #[test]
    fn every_set_meets_every_fault_and_each_repeat_has_an_order_of_its_own() {
        let mut config = config();
        config.repeats = 8;
        let cases = of(&config);
        assert_eq!(cases, of(&config));
        assert_eq!(cases.len(), 8 * 3);
        let rows = |repeat: u32| -> Vec<String> {
            cases.iter().filter(|case| case.repeat == repeat).map(Case::row).collect()
        };
        assert!((2..=8).any(|repeat| rows(repeat) != rows(1)));
        let mut sorted = rows(3);
        sorted.sort();
        assert_eq!(sorted, ["control/none", "cut/ALL", "cut/ONE"]);
        let mut seeds: Vec<u64> = cases.iter().map(|case| case.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 24);
        config.seed += 1;
        assert_ne!(of(&config), cases);
    }
}
