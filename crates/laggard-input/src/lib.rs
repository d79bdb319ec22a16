//! Opens files that other tools wrote.
//!
//! In: paths of files, folders and archives, compressed or not. Out: the content of each file with its first bytes
//! (for format detection), lines with their numbers, and errors with positions.
//! Always: the format depends on the content, never on the name; a bad file or archive member does not stop the rest;
//! only the piece being read is held in memory.

mod archive;
mod compression;
mod content;
mod error;
mod files;
mod format;
mod lines;

pub use archive::{is_compressed, unpack};
pub use content::{Content, Progress, for_each_content};
pub use error::{Place, ReadError, quote};
pub use files::{expand, files, total_bytes};
pub use format::{FormatEntry, Formats, UnknownFormat, describe};
pub use lines::{Line, Lines};
