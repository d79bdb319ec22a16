//! Numbers in, numbers out: the inner loops of the papers' methods.
//!
//! A kernel has a portable body, one for AVX2, and the most expensive ones also one for AVX-512; the choice is made at run
//! time. All bodies add floats in the same order, so they give the same bits. [`twin`] has plain versions; one test
//! compares all of them.
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

pub use lanes::Lanes;
pub use machine::LANES;

/// Bins are kept as 16 bits and compared as signed numbers.
pub const HIGHEST_BIN: u16 = i16::MAX as u16;

#[cfg(test)]
mod tests;
