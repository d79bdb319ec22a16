//! The cells of a campaign: who is hurt, by what, for the how-manieth time.

use serde::{Deserialize, Serialize};

use crate::campaign::config::{Config, Order};
use laggard_core::model::random::Random;

/// One cell, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The name of the set of nodes; `none` for the control.
    pub nodes: String,
    /// The nodes that are hurt.
    pub hurt: Vec<String>,
    /// The fault; none: the control, where nothing happens.
    pub fault: Option<String>,
    /// From 1 on.
    pub repeat: u32,
    /// What its own choices follow from.
    pub seed: u64,
}

impl Cell {
    /// What all repeats of it are called: `a-DevFail/ONE`.
    pub fn row(&self) -> String {
        format!("{}/{}", self.fault.as_deref().unwrap_or(CONTROL), self.nodes)
    }

    /// What it is called.
    pub fn name(&self) -> String {
        format!("{}/{}", self.row(), self.repeat)
    }
}

/// What stands for a fault where there is none.
pub const CONTROL: &str = "control";

/// All cells, in the order in which they are played: repeat by repeat, so that a campaign which stops early has something
/// of everything.
pub fn of(config: &Config) -> Vec<Cell> {
    (1..=config.repeats).flat_map(|repeat| of_repeat(config, repeat)).collect()
}

fn of_repeat(config: &Config, repeat: u32) -> Vec<Cell> {
    let control = config.has_control.then(|| ("none".to_owned(), vec![], None));
    let pairs = config.chosen.iter().flat_map(|fault| {
        let sets = config.node_sets.iter();
        sets.map(move |(name, hurt)| (name.clone(), hurt.clone(), Some(fault.clone())))
    });
    let mut cells: Vec<Cell> = control
        .into_iter()
        .chain(pairs)
        .map(|(nodes, hurt, fault)| Cell { nodes, hurt, fault, repeat, seed: 0 })
        .collect();
    for cell in &mut cells {
        let of = cell.name().bytes().map(u64::from).collect::<Vec<u64>>();
        // Half of the bits are enough, and easier to type.
        cell.seed = Random::of(config.seed, &of).bits() >> 32;
    }
    if config.order == Order::Shuffled {
        let mut chance = Random::of(config.seed, &[u64::from(repeat)]);
        for place in (1..cells.len()).rev() {
            cells.swap(place, chance.below(place + 1));
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::testing::config;

    #[test]
    fn every_set_meets_every_fault_and_each_repeat_has_an_order_of_its_own() {
        let mut config = config();
        config.repeats = 8;
        let cells = of(&config);
        assert_eq!(cells, of(&config));
        assert_eq!(cells.len(), 8 * 3);
        let rows = |repeat: u32| -> Vec<String> {
            cells.iter().filter(|cell| cell.repeat == repeat).map(Cell::row).collect()
        };
        assert!((2..=8).any(|repeat| rows(repeat) != rows(1)));
        let mut sorted = rows(3);
        sorted.sort();
        assert_eq!(sorted, ["control/none", "cut/ALL", "cut/ONE"]);
        let mut seeds: Vec<u64> = cells.iter().map(|cell| cell.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 24);
        config.seed += 1;
        assert_ne!(of(&config), cells);
    }
}
