//! Why a source gave less than it should.

use std::io;
use std::path::{Path, PathBuf};

/// Lines of a file that are not what they should be. The other lines count all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLines {
    /// How many there are.
    pub count: u64,
    /// The number of the first, counted from 1.
    pub line: usize,
    /// What would have been right there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

/// Why a source gave less than it should.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The kernel does not have it. Told once, and no failure.
    #[error("{what} is absent: this kernel does not offer it, or its module is not loaded")]
    Absent {
        /// What is not there.
        what: String,
    },
    /// The system said no.
    #[error("{what}: {error}")]
    Io {
        /// What was read.
        what: String,
        /// What the system said.
        error: io::Error,
    },
    /// Some lines are wrong.
    #[error("{}:{}: expected {}, found {}", path.display(), bad.line, bad.expected, bad.found)]
    Lines {
        /// The file.
        path: PathBuf,
        /// The lines.
        bad: BadLines,
    },
    /// Some connections came without their state.
    #[error(
        "sock_diag: expected a tcp_info of at least 104 bytes with every connection, found {count} without"
    )]
    Unread {
        /// How many.
        count: u64,
    },
    /// An answer of the kernel is wrong.
    #[error("{what}: expected {expected}, found {found}")]
    Answer {
        /// What was asked.
        what: &'static str,
        /// What would have been right.
        expected: &'static str,
        /// What came.
        found: String,
    },
}

impl BadLines {
    /// The first one, and that there is another one.
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

    /// How many failures it counts for: each bad line is one, a thing that is absent is none.
    pub fn weight(&self) -> u64 {
        match self {
            Failure::Absent { .. } => 0,
            Failure::Lines { bad, .. } => bad.count,
            Failure::Unread { count } => *count,
            Failure::Io { .. } | Failure::Answer { .. } => 1,
        }
    }

    /// Whether all that could be read was read: only some of it is wrong.
    pub(super) fn is_partial(&self) -> bool {
        matches!(self, Failure::Lines { .. } | Failure::Unread { .. })
    }

    /// Whether it is the same trouble as another, so that it need not be told again. Which line is wrong, and
    /// what it holds, may change with every tick.
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

/// Of two outcomes, the one that matters: a failure before an absence, an earlier one before a later one.
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
