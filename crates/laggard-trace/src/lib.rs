//! Event traces of the layers of an I/O stack, and which layer makes it slow.
//!
//! In flow order: [`model`] (requests that cross layers, as events), [`reading`] (what all readers share),
//! [`tracepoints`] (what the kernel reports), [`ltr`] (the file of a trace), [`linking`] (which request is for which),
//! [`characteristics`] (figures of every layer), [`analysis`] (the two in one pass).

pub mod model;

pub mod reading;
pub mod tracepoints;

pub mod ltr;

mod hashing;
pub mod learning;
pub mod linking;

pub mod characteristics;

pub mod analysis;
