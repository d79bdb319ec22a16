//! Numbers in, numbers out: the inner loops of peer comparison.
//!
//! A kernel has one body for any machine, one for AVX2, and those that take the most time one for AVX-512; which of
//! them runs is chosen at run time. Sums of floats are taken in one order by all of them, so they give the same
//! bits. [`twin`] says the same things in the plainest words; one test holds all of them together.
//!
//! Always: NaN means missing. Rows have no more than [`HIGHEST_BIN`] as a bin.

// Lanes are addressed by number: that is what they are.
#![allow(unsafe_code, clippy::needless_range_loop)]

mod machine;

pub mod average;
pub mod bins;
pub mod counts;
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
