//! Live capture through tracefs.
//! In: a [`Plan`] (layers, scope, memory). Out: a trace file, written from
//! `Tracepoint`s ordered by time. Always: kernel objects are listed in a manifest
//! before they are created, and are removed at the end, even if the recorder is killed.
//!
//! `manifest`, `guard` and `undo` resemble the undo journal of `laggard-lab` but are separate on purpose. The lab
//! appends a step before each change and reverts arbitrary steps in reverse order. A recorder knows the names of all
//! its kernel objects before it creates the first one: its manifest is written once, never changes, and is undone by
//! name in any order. A dead recorder is recognised by a file lock, so that any later recorder can clean up, while the
//! lab's guard also reverts faults when their time is over. The common piece would be a pipe to a guard process, about
//! 30 lines, for which the two crates have no common home.

mod buffers;
mod capture_plan;
mod decoder;
mod descriptors;
mod error;
mod events;
mod field_layout;
mod file_capture;
mod files;
mod filter;
mod host;
mod instance;
mod manifest;
mod merge;
mod overhead;
mod page;
mod pipes;
mod probes;
mod record_source;
mod scope;
mod session;
mod stream;
mod symbols;
mod tasks;
mod tracefs;
mod undo;

pub mod doctor;
pub mod guard;

pub use capture_plan::{LAYERS, Plan, default_kib_per_cpu};
pub use error::CaptureError;
pub use file_capture::{Recording, Summary};
pub use scope::{Mount, Scope, device};
pub use session::Session;
pub use tracefs::Tracefs;

/// The decoder of raw pages, for fuzzing.
#[doc(hidden)]
pub mod raw {
    pub use super::decoder::Decoder;
    pub use super::field_layout::Format;
    pub use super::page::{Header, Page};
    pub use super::tasks::Tasks;
}
