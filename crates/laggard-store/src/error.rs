//! What can go wrong with a dataset: where, what, and what to do about it.

use std::io;
use std::path::Path;

/// Why a dataset could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system said no.
    #[error("{path}: cannot {action}: {error}")]
    Io {
        /// The file or folder.
        path: String,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// There is no room left.
    #[error(
        "{path}: the disk is full; everything up to the last flush is kept. \
         Free some space or shorten the retention, then start again"
    )]
    Full {
        /// The file that could not grow.
        path: String,
    },
    /// The content is not what it should be.
    #[error("{path}: {what}")]
    Broken {
        /// The file.
        path: String,
        /// What was expected, and what is there.
        what: String,
    },
    /// A later laggard wrote it.
    #[error(
        "{path}: is in format {found}, and this laggard reads up to format {}: use a newer laggard",
        crate::format::origin::FORMAT
    )]
    Newer {
        /// The file.
        path: String,
        /// Its format.
        found: String,
    },
    /// Something else is in its place.
    #[error(
        "{path}: already holds what {theirs} recorded; import {ours} into another dataset, or remove that file"
    )]
    Taken {
        /// The file.
        path: String,
        /// The source of the file that is there.
        theirs: String,
        /// The source of the file that should be there.
        ours: String,
    },
    /// Somebody else is writing.
    #[error(
        "{path}: another recorder of {host} is writing it; stop that one, or record under another host name"
    )]
    Busy {
        /// The file.
        path: String,
        /// The host.
        host: String,
    },
    /// The location makes no sense here.
    #[error("{location}: {what}")]
    Location {
        /// The location, as given.
        location: String,
        /// What is wrong with it.
        what: String,
    },
}

impl StoreError {
    /// What the system said about a path; a full disk gets its own words.
    pub(crate) fn io(path: impl AsRef<Path>, action: &'static str, error: io::Error) -> Self {
        let path = path.as_ref().display().to_string();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
            _ => StoreError::Io { path, action, error },
        }
    }

    /// Wrong content.
    pub(crate) fn broken(path: impl AsRef<Path>, what: impl Into<String>) -> Self {
        StoreError::Broken { path: path.as_ref().display().to_string(), what: what.into() }
    }

    /// Whether there is no such file (any more).
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, StoreError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

/// A file of a dataset that could not be used, while the others could.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Problem {
    /// The file's name.
    pub name: String,
    /// What is wrong with it.
    pub error: StoreError,
}
