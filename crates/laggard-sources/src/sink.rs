//! The destination of all readers of foreign files.

use laggard_core::model::time::{Span, Timestamp};
use laggard_core::samples::RawTable;

use laggard_input::ReadError;

/// The host of a recording, as far as the recording states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub host: String,
    /// The interval, if the recording states it.
    pub every: Option<Span>,
    /// True for a 32-bit kernel: all counters may wrap at 2^32.
    pub wraps_at_32_bits: bool,
}

/// Receives rows piece by piece: readers never hold a whole file.
pub trait Sink {
    /// Rows of one table of one host, in the order of recording.
    fn rows(&mut self, origin: &Origin, rows: RawTable) -> Result<(), ReadError>;

    /// A restart, a comment, a skipped activity.
    fn note(&mut self, note: Note);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub time: Option<Timestamp>,
    pub text: String,
}

/// Keeps everything: for tests, and for small recordings.
#[derive(Debug, Default)]
pub struct MemorySink {
    pub rows: Vec<(Origin, RawTable)>,
    pub notes: Vec<Note>,
}

impl Sink for MemorySink {
    fn rows(&mut self, origin: &Origin, rows: RawTable) -> Result<(), ReadError> {
        self.rows.push((origin.clone(), rows));
        Ok(())
    }

    fn note(&mut self, note: Note) {
        self.notes.push(note);
    }
}

/// The name for a host whose recording does not have one: the file name without suffixes.
pub(crate) fn host_of_file(name: &str) -> &str {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("host")
}

/// The number of rows that a reader collects before it delivers them.
pub const ROWS_PER_PIECE: usize = 16 * 1024;
