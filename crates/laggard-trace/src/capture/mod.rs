//! Live capture through the kernel's tracing files.
//! In: what to look at. Out: [`crate::tracepoints::Tracepoint`]s in the order of time. Always: whatever is made in the
//! kernel is written down first, and gone in the end.

mod error;

pub mod buffers;
pub mod decoder;
pub mod descriptors;
pub mod doctor;
pub mod events;
pub mod feed;
pub mod files;
pub mod format;
pub mod guard;
pub mod host;
pub mod instance;
pub mod manifest;
pub mod merge;
pub mod overhead;
pub mod page;
pub mod pipes;
pub mod plan;
pub mod probes;
pub mod recording;
pub mod scope;
pub mod session;
pub mod sieve;
pub mod stream;
pub mod symbols;
pub mod tasks;
pub mod tracefs;
pub mod undo;

pub use error::CaptureError;
