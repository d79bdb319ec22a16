//! All pairs, by cumulative histograms, one thread, not optimised.

use laggard_core::methods::papers::distances::bins::{BinRule, MOST_BINS};
use laggard_core::methods::papers::distances::{is_evaluable, naive};
use laggard_core::methods::papers::windows::Sliding;
use laggard_core::methods::papers::windows::rolling::Rolling;
use laggard_core::methods::papers::windows::smoothing::Smoothing;
use laggard_core::tables::Table;

/// The number of anomalous scores at the threshold.
pub(crate) fn flags(table: &Table, threshold: u32) -> usize {
    let sliding = Sliding { size: 60, shift: 30 };
    let mut rolling = Rolling::new(Smoothing::of(15), sliding, table.components.len());
    let mut flags = 0;
    rolling.advance(table, |_, rows| {
        if is_evaluable(rows) {
            let scores = naive::cdf_scores(rows, BinRule::FreedmanDiaconis { most: MOST_BINS });
            flags += scores.iter().filter(|&&score| score > threshold).count();
        }
    });
    flags
}
