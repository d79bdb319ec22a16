//! What `iostat` prints about block devices, as text or as JSON (`-o JSON`).
//!
//! In: one report after the other, in any generation's columns and any locale's dates. Out: rows of
//! `disk_rates`. Always: the first report of a run, which is an average since boot, is left out when others
//! follow it; where a run has no times, they are made up, and a note says so.

pub mod json;
mod report;
pub mod text;

#[cfg(test)]
mod tests;
