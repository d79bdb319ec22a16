//! Converts traces of other tools to a trace file.
//! In: contents of files. Out: a trace file. Always: events are ordered by time; lines and records that are not
//! understood are counted, and reading continues.

mod block_line;
mod importer;
mod nesting;
mod sorting;

pub use crate::formats::Format;
pub use importer::{FileOutcome, Importer, Options};
