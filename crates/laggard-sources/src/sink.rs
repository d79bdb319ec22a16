//! What every reader of a foreign file shares: where its rows go, and how it says what is wrong.

use laggard_core::model::time::{Span, Timestamp};
use laggard_core::samples::RawTable;

use laggard_input::ReadError;

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
