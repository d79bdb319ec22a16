//! What can go wrong on a real machine.

use std::io;
use std::path::Path;

use crate::disks::control::ControlError;

/// Why the lab could not do something.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The machine lacks something.
    #[error("{0}")]
    Lacking(String),
    /// A mistake in what was given.
    #[error("{0}")]
    Input(String),
    /// Something that could be done and must not be.
    #[error("refused: {0}")]
    Refused(String),
    /// A program failed.
    #[error("`{command}` failed: {told}")]
    Program {
        /// The command line.
        command: String,
        /// What it said, or how it ended.
        told: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// Something did not happen in time.
    #[error("waited {seconds} s in vain for {what}")]
    InVain {
        /// For what.
        what: String,
        /// How long.
        seconds: u64,
    },
    /// A disk did not answer.
    #[error(transparent)]
    Disk(#[from] ControlError),
}

impl LabError {
    /// An error about a file.
    pub fn at(path: &Path) -> impl FnOnce(io::Error) -> LabError + '_ {
        move |error| LabError::File { path: path.display().to_string(), error }
    }
}
