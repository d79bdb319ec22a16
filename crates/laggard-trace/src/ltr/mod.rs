//! The trace file, `.ltr`: JSON Lines, compressed with zstd.
//! In and out: [`crate::model::Record`]s. Always: the first line is the header, the last the footer; a line with an
//! array is an event with its fields in the order of [`FIELDS`]; other lines are objects with one key. A truncated
//! file is read up to its end.

pub(crate) mod event_line;
mod line;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

pub use event_line::FIELDS;
pub use reader::{Damage, Reader};
pub use writer::Writer;

/// Readers accept this and earlier versions.
pub const VERSION: u32 = 1;

/// For uncompressed content.
pub fn recognises(start: &[u8]) -> bool {
    start.starts_with(b"{\"header\":{\"version\":")
}
