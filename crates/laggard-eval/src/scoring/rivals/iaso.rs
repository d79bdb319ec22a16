//! More than twice the median of the peers at the same instant.

use super::block::{Block, Rating};

/// How many times the peers' median is too much.
const TOO_MUCH: f64 = 2.0;

pub struct Twice;

impl Rating for Twice {
    fn rate(&mut self, block: &Block) -> Vec<Vec<f64>> {
        block.against_medians(|value, median| f64::from(u8::from(value > TOO_MUCH * median)))
    }
}
