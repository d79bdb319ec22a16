//! A sample is anomalous if it exceeds twice the median of the peers at the same instant.

use super::block::{Block, Rating};

/// Accepted multiple of the peers' median.
const TOO_MUCH: f64 = 2.0;

pub(super) struct RatioToMedian;

impl Rating for RatioToMedian {
    fn rate(&mut self, block: &Block) -> Vec<Vec<f64>> {
        block.against_medians(|value, median| f64::from(u8::from(value > TOO_MUCH * median)))
    }
}
