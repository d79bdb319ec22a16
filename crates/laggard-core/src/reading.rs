//! How readers of foreign files say what is wrong with one, and where. Whoever reads is in another crate.

use std::fmt;

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
        error: std::io::Error,
    },
    /// What was read could not be put away.
    #[error("{0}")]
    Sink(Box<dyn std::error::Error + Send + Sync>),
}

impl ReadError {
    /// Wrong content.
    pub fn content(place: Place, expected: impl Into<String>, found: impl Into<String>) -> Self {
        ReadError::Content { place, expected: expected.into(), found: found.into() }
    }

    /// Wrong content, of which enough is shown to recognise it.
    pub fn quoting(place: Place, expected: impl Into<String>, found: impl AsRef<[u8]>) -> Self {
        ReadError::content(place, expected, shortened(found.as_ref()))
    }
}

/// Of what was read, that it could not be put away.
impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> ReadError {
        ReadError::Sink(error.into())
    }
}

/// Enough of a text to recognise it.
fn shortened(text: &[u8]) -> String {
    const MOST: usize = 60;
    let start = String::from_utf8_lossy(text.get(..4 * MOST).unwrap_or(text));
    let short: String = start.chars().take(MOST).map(|c| if c.is_control() { '.' } else { c }).collect();
    if short.len() < text.len() { format!("{short:?}...") } else { format!("{short:?}") }
}
