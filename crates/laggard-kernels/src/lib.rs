//! Numbers in, numbers out: the inner loops of peer comparison.
//!
//! Every kernel is compiled twice from the same source, for any machine and for AVX2, and the one that runs is
//! chosen at run time. Nothing is reordered: sums of floats go from the first to the last, so both give the same
//! bits. [`twin`] says the same things in the plainest words; one test holds all of them together.
//!
//! Always: NaN means missing. Rows have no more than [`HIGHEST_BIN`] as a bin.

// Lanes are addressed by number: that is what they are.
#![allow(unsafe_code, clippy::needless_range_loop)]

mod machine;

pub mod average;
pub mod bins;
pub mod extent;
pub mod lanes;
pub mod median;
pub mod quartiles;
pub mod rows;
pub mod sorting;
mod tally;
pub mod twin;

pub use lanes::{LANES, Lanes};

/// Bins are kept as 16 bits and compared as signed numbers.
pub const HIGHEST_BIN: u16 = i16::MAX as u16;

#[cfg(test)]
mod tests;
