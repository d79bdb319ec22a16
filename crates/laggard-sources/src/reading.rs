//! What every reader of a foreign file shares: where its rows go, and how it says what is wrong.

use std::fmt;

use laggard_core::model::time::{Span, Timestamp};
use laggard_core::samples::RawTable;

/// The host that a recording speaks of, as far as the recording tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The host's name.
    pub host: String,
    /// The interval that the recording states, if it does.
    pub every: Option<Span>,
    /// Whether all counters may wrap at 2^32: the host's kernel was a 32-bit one.
    pub wraps_at_32_bits: bool,
}

/// Takes what a reader reads, piece by piece: readers never hold a whole file.
pub trait Sink {
    /// Rows of one table of one host. Rows of one host and table arrive in the order of recording.
    fn rows(&mut self, origin: &Origin, rows: RawTable) -> Result<(), ReadError>;

    /// Something worth telling that is no row: a restart, a comment, an activity that was skipped.
    fn note(&mut self, note: Note);
}

/// A remark of a recording, or about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// When it was made, if it has a time.
    pub time: Option<Timestamp>,
    /// What it says.
    pub text: String,
}

/// A sink that keeps everything: for tests, and for recordings that are known to be small.
#[derive(Debug, Default)]
pub struct Collected {
    /// The rows, as they came.
    pub rows: Vec<(Origin, RawTable)>,
    /// The notes, as they came.
    pub notes: Vec<Note>,
}

impl Sink for Collected {
    fn rows(&mut self, origin: &Origin, rows: RawTable) -> Result<(), ReadError> {
        self.rows.push((origin.clone(), rows));
        Ok(())
    }

    fn note(&mut self, note: Note) {
        self.notes.push(note);
    }
}

/// What to call a host whose recording does not name it: the file's name without its endings.
pub(crate) fn host_of_file(name: &str) -> &str {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("host")
}

/// How many rows a reader gathers before it hands them over.
pub const ROWS_AT_ONCE: usize = 16 * 1024;

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
    /// The rows could not be put away.
    #[error("{0}")]
    Sink(Box<dyn std::error::Error + Send + Sync>),
}

impl ReadError {
    /// Wrong content.
    pub fn content(place: Place, expected: impl Into<String>, found: impl Into<String>) -> Self {
        ReadError::Content { place, expected: expected.into(), found: found.into() }
    }
}
