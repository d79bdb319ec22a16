//! A fixed limit, as an administrator would set it: mean plus three standard deviations of the group's first minutes.

use super::block::{Block, Rating};

const DEVIATIONS: f64 = 3.0;
/// Samples that are needed to set a limit.
const FEWEST_SAMPLES: usize = 30;

#[derive(Default)]
pub(super) struct Limit {
    limit: Option<f64>,
}

impl Rating for Limit {
    fn rate(&mut self, block: &Block) -> Vec<Vec<f64>> {
        if self.limit.is_none() {
            self.limit = learned(block);
        }
        let limit = self.limit.unwrap_or(f64::NAN);
        let rated = |&value: &f64| {
            if value.is_nan() || limit.is_nan() { f64::NAN } else { f64::from(u8::from(value > limit)) }
        };
        block.rows.iter().map(|row| row.iter().map(rated).collect()).collect()
    }
}

fn learned(block: &Block) -> Option<f64> {
    let values: Vec<f64> = block.rows.iter().flatten().copied().filter(|value| !value.is_nan()).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (values.len() >= FEWEST_SAMPLES).then(|| mean + DEVIATIONS * variance.sqrt())
}
