//! Event traces of the layers of an I/O stack, and which layer makes it slow.
//!
//! In flow order: [`model`] (requests that cross layers, as events), [`tracepoints`] (what the kernel reports).

pub mod model;
pub mod tracepoints;
