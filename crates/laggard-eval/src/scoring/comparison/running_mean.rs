//! The logarithm of the ratio to the peers' median at the same instant.

use super::block::{Block, Rating};

/// Added to the group's spread, so that tiny differences between nearly equal peers are ignored.
pub(super) const FLOOR: f64 = 0.03;
/// In units of the spread.
pub(super) const THRESHOLD: f64 = 3.0;

pub(super) struct LogRatio;

impl Rating for LogRatio {
    fn rate(&mut self, block: &Block) -> Vec<Vec<f64>> {
        block.against_medians(|value, median| (value / median).ln())
    }
}
