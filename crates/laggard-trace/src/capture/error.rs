//! Errors of a capture.

use std::io;
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The host lacks something.
    #[error("{0}")]
    Lacking(String),
    /// Invalid options.
    #[error("{0}")]
    Input(String),
    #[error("{path}: {error}")]
    File { path: String, error: io::Error },
    /// The kernel's description of a tracepoint or page is not understood.
    #[error("{event}: the kernel's description lacks {expected}")]
    Format { event: String, expected: String },
    #[error("page of the ring buffer: expected {expected}, found its end at byte {at}")]
    Page { expected: &'static str, at: usize },
}

impl CaptureError {
    pub fn at(path: &Path) -> impl FnOnce(io::Error) -> CaptureError + '_ {
        move |error| CaptureError::File { path: path.display().to_string(), error }
    }
}
