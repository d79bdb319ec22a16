//! Event traces of the layers of an I/O stack, and which layer makes it slow.
//!
//! In flow order: [`model`] (requests that cross layers, as events), `tracepoints` (events of the kernel), `mapping`
//! (tracepoints to requests of layers), `formats` (readers of other tools' traces), [`ltr`] (the trace file),
//! [`importing`], [`merging`], [`capture`], [`linking`] (which request is for which), [`characteristics`]
//! (figures of every layer), [`reference`](mod@reference) (what figures are to be), [`findings`] (what makes it slow),
//! [`report`] (what is told of it). [`analysis`] is the way through all of it.

pub mod model;

mod hashing;
mod tracepoints;

mod mapping;

mod formats;

pub mod ltr;

pub mod importing;

pub mod merging;

pub mod capture;

pub mod learning;
pub mod linking;

pub mod characteristics;

pub mod reference;

pub mod findings;

pub mod report;

pub mod calibration;

pub mod analysis;

pub use mapping::Roles;
