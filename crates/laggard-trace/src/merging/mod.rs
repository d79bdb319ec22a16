//! Merges traces of several hosts.
//! In: trace files, read twice: for the clock offsets and for merging. Out: one trace file. Always: timestamps stay
//! those of each host's clock; the header has the offset to the first host.

mod clocks;
mod matchable;
mod merger;

#[cfg(test)]
mod tests;

pub use clocks::{Offset, offset};
pub use matchable::{MatchableRequests, matchable_requests};
pub use merger::merge;
