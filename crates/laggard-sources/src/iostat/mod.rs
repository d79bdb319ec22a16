//! The output of `iostat` about block devices, as text or as JSON (`-o JSON`).
//!
//! In: one report after the other, with the columns of any version and the dates of any locale. Out: rows of
//! `disk_rates`. Always: the first report of a run, an average since boot, is left out when others follow it; a run
//! without times gets artificial ones, and a note says so.

pub mod json;
mod report;
pub mod text;

#[cfg(test)]
mod tests;
