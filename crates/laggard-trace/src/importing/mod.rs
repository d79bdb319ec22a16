//! Traces of other tools, brought into the one format.
//! In: contents of files, whatever they hold. Out: a trace file. Always: events are written in the order of time;
//! what cannot be understood is counted, and the rest goes on.

mod block_line;
mod importer;
mod nest;
mod sorting;

pub use crate::formats::Format;
pub use importer::{FileOutcome, Importer, Options};
