//! Why a capture cannot be, or not go on.

use std::io;
use std::path::Path;

/// Why a capture cannot be, or not go on.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The machine lacks something.
    #[error("{0}")]
    Lacking(String),
    /// A mistake in what was asked for.
    #[error("{0}")]
    Input(String),
    /// A file could not be read or written.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// The kernel describes something in another way than is known.
    #[error("{event}: the kernel's description is not as expected: no {expected}")]
    Format {
        /// The tracepoint.
        event: String,
        /// What should be there.
        expected: String,
    },
    /// A page of the ring buffer is not as it should be.
    #[error("page of the ring buffer: expected {expected}, found its end at byte {at}")]
    Page {
        /// What should be there.
        expected: &'static str,
        /// Where it is not.
        at: usize,
    },
}

impl CaptureError {
    /// An error about a file.
    pub fn at(path: &Path) -> impl FnOnce(io::Error) -> CaptureError + '_ {
        move |error| CaptureError::File { path: path.display().to_string(), error }
    }
}
