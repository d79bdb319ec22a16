//! Errors on a real machine.

use std::io;
use std::path::Path;

use crate::disks::control::ControlError;

#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The machine lacks something.
    #[error("{0}")]
    Lacking(String),
    /// A mistake in the input, or a failed operation.
    #[error("{0}")]
    Input(String),
    /// An operation that is possible but must not be done.
    #[error("refused: {0}")]
    Refused(String),
    #[error("`{command}` failed: {reason}")]
    Program {
        /// The command line.
        command: String,
        /// Its output, or its exit status.
        reason: String,
    },
    #[error("{path}: {error}")]
    File { path: String, error: io::Error },
    #[error("timed out after {seconds} s waiting for {what}")]
    Timeout { what: String, seconds: u64 },
    #[error(transparent)]
    Disk(#[from] ControlError),
}

impl LabError {
    pub fn at(path: &Path) -> impl FnOnce(io::Error) -> LabError + '_ {
        move |error| LabError::File { path: path.display().to_string(), error }
    }
}
