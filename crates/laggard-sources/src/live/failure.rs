//! Failures of sources.

use std::io;
use std::path::{Path, PathBuf};

/// Malformed lines of a file. The other lines are used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLines {
    pub count: u64,
    /// The first malformed line, counted from 1.
    pub line: usize,
    pub expected: String,
    pub found: String,
}

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The kernel does not have it. Reported once, and not counted as a failure.
    #[error("{what} is absent: this kernel does not have it, or its module is not loaded")]
    Absent { what: String },
    #[error("{what}: {error}")]
    Io { what: String, error: io::Error },
    #[error("{}:{}: expected {}, found {}", path.display(), bad.line, bad.expected, bad.found)]
    Lines { path: PathBuf, bad: BadLines },
    /// Some connections have no state.
    #[error(
        "sock_diag: expected a tcp_info of at least 104 bytes with every connection, found {count} without"
    )]
    Unread { count: u64 },
    /// A malformed answer of the kernel.
    #[error("{what}: expected {expected}, found {found}")]
    Answer { what: &'static str, expected: &'static str, found: String },
}

impl BadLines {
    /// Keeps the first malformed line and counts the others.
    pub(super) fn note(
        so_far: &mut Result<(), BadLines>,
        line: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) {
        match so_far {
            Ok(()) => {
                let (expected, found) = (expected.into(), found.into());
                *so_far = Err(BadLines { count: 1, line, expected, found });
            }
            Err(bad) => bad.count += 1,
        }
    }
}

impl Failure {
    pub(super) fn lines(path: &Path, bad: BadLines) -> Failure {
        Failure::Lines { path: path.to_owned(), bad }
    }

    /// The number of failures to count: one per malformed line, none for an absent source.
    pub fn weight(&self) -> u64 {
        match self {
            Failure::Absent { .. } => 0,
            Failure::Lines { bad, .. } => bad.count,
            Failure::Unread { count } => *count,
            Failure::Io { .. } | Failure::Answer { .. } => 1,
        }
    }

    /// True if everything readable was read.
    pub(super) fn is_partial(&self) -> bool {
        matches!(self, Failure::Lines { .. } | Failure::Unread { .. })
    }

    /// True for the same failure as before, which is not reported again. The line number and its content may change
    /// with every tick.
    pub fn is_like(&self, other: &Failure) -> bool {
        match (self, other) {
            (Failure::Absent { what: a }, Failure::Absent { what: b }) => a == b,
            (Failure::Io { what: a, error: x }, Failure::Io { what: b, error: y }) => a == b && same_io(x, y),
            (Failure::Lines { path: a, bad: x }, Failure::Lines { path: b, bad: y }) => {
                a == b && x.expected == y.expected
            }
            (Failure::Answer { expected: a, .. }, Failure::Answer { expected: b, .. }) => a == b,
            (Failure::Unread { .. }, Failure::Unread { .. }) => true,
            _ => false,
        }
    }
}

/// The more important of two outcomes: a failure before an absence, an earlier one before a later one.
pub(super) fn worse(first: Result<(), Failure>, second: Result<(), Failure>) -> Result<(), Failure> {
    match (&first, &second) {
        (Err(a), Err(b)) if a.weight() == 0 && b.weight() > 0 => second,
        (Err(_), _) => first,
        _ => second,
    }
}

fn same_io(a: &io::Error, b: &io::Error) -> bool {
    a.raw_os_error() == b.raw_os_error() && a.kind() == b.kind()
}
