//! Errors of readers, with the position in the file.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Counted from 0, in the uncompressed content.
    Byte(u64),
    /// Counted from 1.
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

/// The reason why a file could not be read (further). The caller knows the file's name and puts it in front.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{place}expected {expected}, found {found}")]
    Content { place: Place, expected: String, found: String },
    #[error("{place}the file ends here, in the middle of {within}")]
    Truncated { place: Place, within: String },
    /// An error of the operating system or of a decompressor.
    #[error("{place}{error}")]
    Io { place: Place, error: std::io::Error },
    /// The destination did not accept what was read.
    #[error("{0}")]
    Sink(Box<dyn std::error::Error + Send + Sync>),
}

impl ReadError {
    pub fn content(place: Place, expected: impl Into<String>, found: impl Into<String>) -> Self {
        ReadError::Content { place, expected: expected.into(), found: found.into() }
    }

    /// Wrong content, with the beginning of `found` in quotes.
    pub fn quoting(place: Place, expected: impl Into<String>, found: impl AsRef<[u8]>) -> Self {
        ReadError::content(place, expected, quote(found.as_ref()))
    }

    pub(crate) fn open(error: std::io::Error) -> Self {
        ReadError::Io { place: Place::Whole, error }
    }
}

/// For errors of the destination only; an error of the input needs its [`Place`].
impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> ReadError {
        ReadError::Sink(error.into())
    }
}

/// The beginning of a text in quotes, for a message.
pub fn quote(text: impl AsRef<[u8]>) -> String {
    const MAX_CHARACTERS: usize = 60;
    let text = text.as_ref();
    let start = String::from_utf8_lossy(text.get(..4 * MAX_CHARACTERS).unwrap_or(text));
    let short: String =
        start.chars().take(MAX_CHARACTERS).map(|c| if c.is_control() { '.' } else { c }).collect();
    if short.len() < text.len() { format!("{short:?}...") } else { format!("{short:?}") }
}

/// The first line that is not blank.
pub(crate) fn first_line(text: &[u8]) -> &[u8] {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}
