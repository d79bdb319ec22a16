//! The file of a trace, `.ltr`: JSON Lines, compressed with zstd.
//!
//! The first line is the header, the last the footer; a line that is an array is an event, with its fields in the
//! order of [`FIELDS`]; the other lines are objects with one key each. A file that was cut short is read as far
//! as it goes.

pub(crate) mod event_line;
mod line;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

pub use event_line::FIELDS;
pub use reader::{Damage, Reader};
pub use writer::Writer;

/// Of the format. A reader takes files of its own version and of those before.
pub const VERSION: u32 = 1;

/// Whether a content, uncompressed, is a trace file.
pub fn recognises(start: &[u8]) -> bool {
    start.starts_with(b"{\"header\":{\"version\":")
}
