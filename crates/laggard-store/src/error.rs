//! Errors of a dataset: the place, the cause, and what to do about it.

use std::io;
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{path}: cannot {action}: {error}")]
    Io { path: String, action: &'static str, error: io::Error },
    #[error(
        "{path}: the disk is full; everything up to the last flush is kept. \
         Free some space or shorten the retention, then start again"
    )]
    Full { path: String },
    #[error("{path}: {what}")]
    Broken { path: String, what: String },
    #[error(
        "{path}: is in format {found}, and this version of laggard reads only format {expected}: read it \
         with the version that wrote it, or record or import again"
    )]
    OtherFormat { path: String, found: String, expected: u32 },
    #[error(
        "{path}: already holds what {theirs} recorded; import {ours} into another dataset, or remove that file"
    )]
    Taken {
        path: String,
        /// The source of the present file.
        theirs: String,
        /// The source of the new file.
        ours: String,
    },
    #[error(
        "{path}: another recorder of {host} is writing it; stop that one, or record under another host name"
    )]
    Busy { path: String, host: String },
    #[error("{location}: {what}")]
    Location { location: String, what: String },
}

impl StoreError {
    /// An error of the system about a path; a full disk has its own message.
    pub(crate) fn io(path: impl AsRef<Path>, action: &'static str, error: io::Error) -> Self {
        let path = path.as_ref().display().to_string();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
            _ => StoreError::Io { path, action, error },
        }
    }

    pub(crate) fn broken(path: impl AsRef<Path>, what: impl Into<String>) -> Self {
        StoreError::Broken { path: path.as_ref().display().to_string(), what: what.into() }
    }

    /// True if the file does not exist (any more).
    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, StoreError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

/// A file of a dataset that could not be used, while the others could.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Problem {
    pub name: String,
    pub error: StoreError,
}
