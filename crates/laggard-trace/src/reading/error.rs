//! Why something could not be read, and where.

use std::fmt;
use std::io;

/// Where in a file something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At a byte, counted from 0, of the uncompressed content.
    Byte(u64),
    /// In a line, counted from 1.
    Line(u64),
    /// The file as a whole.
    Whole,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Byte(byte) => write!(f, "byte {byte}: "),
            Place::Line(line) => write!(f, "line {line}: "),
            Place::Whole => Ok(()),
        }
    }
}

/// Why a file could not be read (further). The caller knows the file's name and puts it in front.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The content is not what it should be.
    #[error("{place}expected {expected}, found {found}")]
    Content {
        /// Where.
        place: Place,
        /// What would have been right.
        expected: String,
        /// What is there.
        found: String,
    },
    /// The file ends too early.
    #[error("{place}the file ends here, in the middle of {within}")]
    Truncated {
        /// Where.
        place: Place,
        /// What was being read.
        within: String,
    },
    /// The operating system, or a decompressor, said no.
    #[error("{place}{error}")]
    Io {
        /// Where.
        place: Place,
        /// What it said.
        error: io::Error,
    },
    /// What was read could not be put away.
    #[error("{0}")]
    Sink(io::Error),
}

impl ReadError {
    /// Wrong content.
    pub fn content(place: Place, expected: impl Into<String>, found: impl AsRef<[u8]>) -> ReadError {
        ReadError::Content { place, expected: expected.into(), found: shortened(found.as_ref()) }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Sink(error)
    }
}

/// Enough of a text to recognise it.
fn shortened(text: &[u8]) -> String {
    const MOST: usize = 60;
    let start = String::from_utf8_lossy(&text[..text.len().min(4 * MOST)]);
    let short: String = start.chars().take(MOST).map(|c| if c.is_control() { '.' } else { c }).collect();
    if short.len() < text.len() { format!("{short:?}...") } else { format!("{short:?}") }
}
