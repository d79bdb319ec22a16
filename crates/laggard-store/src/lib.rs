//! A dataset on disk or object store: append, seal, recover, query.
//!
//! Each folder imports only those above it: `format` (names, metadata, columns), `location` (folder or object
//! store), `reading` (selection and pieces), `live_tail`, `sealed`, `dataset`, then `recording`, `import`
//! and `tables`.
//!
//! Always: a sealed file never changes; a tail ends with a whole message; every file states its format.

#![warn(unreachable_pub)]

pub mod error;
mod format;
mod location;

mod reading;

mod live_tail;
mod sealed;

pub mod dataset;

pub mod import;
mod recording;
mod tables;

pub use dataset::retention::Retention;
pub use dataset::segment::{Segment, Summary};
pub use dataset::{Dataset, Listing};
pub use dataset::{notebook, retention, segment};
pub use error::{Problem, StoreError};
pub use format::file_name::{FileName, State};
pub use format::origin::Origin;
pub use format::{cycle, file_name as name, origin};
pub use import::{Imported, Importer};
pub use reading::piece::Piece;
pub use reading::selection::{Selection, Wanted};
pub use reading::{piece, selection};
pub use recording::facts_writer::FactsWriter;
pub use recording::recorder;
pub use recording::recorder::Recorder;
pub use recording::recover::recover;
pub use recording::writer_thread::{Batch, WriterThread, Written};
pub use sealed::seal;
pub use sealed::seal::Sealed;
pub use tables::{dataset_recording, tabulate};
