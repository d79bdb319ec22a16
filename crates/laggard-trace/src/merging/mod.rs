//! Traces of several hosts, brought into one.
//! In: trace files, read twice: once for the offsets of the clocks, once to be merged. Out: one trace file.
//! Always: times stay those of each host's clock, and the header tells how far it is from the first one's.

mod clocks;
mod merger;
mod survey;

#[cfg(test)]
mod tests;

pub use clocks::{Offset, offset};
pub use merger::merge;
pub use survey::{Survey, survey};
