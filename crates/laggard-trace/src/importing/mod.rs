//! Traces of other tools, brought into the one format.
//! In: contents of files, whatever they hold. Out: a trace file. Always: events are written in the order of time;
//! what cannot be understood is counted, and the rest goes on.

mod format;
mod importer;
mod interval;
mod nest;
mod sorting;

pub use format::{Format, UnknownFormat};
pub use importer::{FileOutcome, Importer, Options};
pub(crate) use interval::{Intake, Interval};
pub(crate) use sorting::Timed;
