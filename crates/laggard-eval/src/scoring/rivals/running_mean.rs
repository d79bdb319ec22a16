//! The logarithm of the ratio to the peers' median at the same instant.

use super::block::{Block, Rating};

/// What is added to the group's spread, so that peers that are very much alike are not told apart.
pub const FLOOR: f64 = 0.03;
/// How many spreads are too many.
pub const THRESHOLD: f64 = 3.0;

pub struct LogRatio;

impl Rating for LogRatio {
    fn rate(&mut self, block: &Block) -> Vec<Vec<f64>> {
        block.against_medians(|value, median| (value / median).ln())
    }
}
