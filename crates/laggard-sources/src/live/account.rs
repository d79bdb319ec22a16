//! The recorder's statistics about its sources.

use std::time::Duration;

use super::failure::Failure;
use super::source::SourceId;

/// Totals since the start.
#[derive(Debug)]
pub struct Account {
    pub source: SourceId,
    /// Failed reads and bad lines.
    pub failures: u64,
    pub read_us: u64,
    pub rows: u64,
    /// Items without a row, because of a limit.
    pub left_out: u64,
    /// The current failure.
    pub failure: Option<Failure>,
}

/// A message for the operator: a source fails, fails in another way, or works again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub source: SourceId,
    /// None if the source works again.
    pub failure: Option<String>,
}

impl Account {
    pub fn new(source: SourceId) -> Account {
        Account { source, failures: 0, read_us: 0, rows: 0, left_out: 0, failure: None }
    }

    /// Counts one read. Returns a message if the state of the source changed.
    pub fn book(
        &mut self,
        outcome: Result<(), Failure>,
        took: Duration,
        rows: usize,
        left_out: u64,
    ) -> Option<Report> {
        self.read_us += u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.rows += rows as u64;
        self.left_out += left_out;
        let failure = outcome.err();
        self.failures += failure.as_ref().map_or(0, Failure::weight);
        let has_changed = match (&self.failure, &failure) {
            (None, None) => false,
            (Some(old), Some(new)) => !new.is_like(old),
            _ => true,
        };
        self.failure = failure;
        has_changed.then(|| self.report())
    }

    fn report(&self) -> Report {
        Report { source: self.source, failure: self.failure.as_ref().map(Failure::to_string) }
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.failure {
            Some(failure) => write!(f, "{}: {failure}", self.source),
            None => write!(f, "{}: works again", self.source),
        }
    }
}
