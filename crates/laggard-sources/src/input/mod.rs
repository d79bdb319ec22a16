//! Opening of recordings: plain files, folders, archives, compressed or not, in whatever format they hold.
//!
//! In: a path. Out: what the reader of each file's format makes of it. Always: the format is told from the
//! content, never from the name; one bad file, or member of an archive, does not stop the rest; and nothing is
//! held in memory but the piece that is being read.

mod content;
mod files;
mod format;
mod import;
mod relay;

pub use content::{Content, Progress, each_input};
pub use files::{files, total_bytes};
pub use format::{Format, UnknownFormat};
pub use import::{FileOutcome, Options, import};

#[cfg(test)]
mod tests;
