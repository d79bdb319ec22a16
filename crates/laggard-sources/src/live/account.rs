//! What the recorder says of itself: how each source fares.

use std::time::Duration;

use super::failure::Failure;

/// The account of one source. All sums since the start.
#[derive(Debug)]
pub struct Account {
    /// The source's name.
    pub source: &'static str,
    /// Reads that failed, and lines that were wrong.
    pub failures: u64,
    /// Microseconds spent on reading.
    pub read_us: u64,
    /// Rows made.
    pub rows: u64,
    /// Things seen and given no row, to keep within bounds.
    pub left_out: u64,
    /// What is wrong now, if something is.
    pub trouble: Option<Failure>,
}

/// Something to tell people: a source has begun to fail, fails in another way, or works again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The source's name.
    pub source: &'static str,
    /// What is wrong; nothing if all is well again.
    pub trouble: Option<String>,
}

impl Account {
    /// Nothing done yet.
    pub fn new(source: &'static str) -> Account {
        Account { source, failures: 0, read_us: 0, rows: 0, left_out: 0, trouble: None }
    }

    /// Books one read. Returns what is news.
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
        let trouble = outcome.err();
        self.failures += trouble.as_ref().map_or(0, Failure::weight);
        let is_news = match (&self.trouble, &trouble) {
            (None, None) => false,
            (Some(old), Some(new)) => !new.is_like(old),
            _ => true,
        };
        self.trouble = trouble;
        is_news.then(|| self.report())
    }

    fn report(&self) -> Report {
        Report { source: self.source, trouble: self.trouble.as_ref().map(Failure::to_string) }
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.trouble {
            Some(trouble) => write!(f, "{}: {trouble}", self.source),
            None => write!(f, "{}: works again", self.source),
        }
    }
}
