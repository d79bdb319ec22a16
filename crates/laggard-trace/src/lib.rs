//! Event traces of the layers of an I/O stack, and which layer makes it slow.
//!
//! In flow order: [`model`] (requests that cross layers, as events), [`reading`] (what all readers share),
//! [`tracepoints`] (what the kernel reports), `formats` (readers of other tools' traces), [`mapping`] (tracepoints as events of layers), [`ltr`] (the file of a
//! trace), [`importing`], [`merging`], [`capture`], [`linking`] (which request is for which), [`characteristics`]
//! (figures of every layer), [`reference`](mod@reference) (what figures are to be), [`findings`] (what makes it slow),
//! [`report`] (what is told of it). [`analysis`] is the way through all of it.

pub mod model;

pub mod reading;
pub mod tracepoints;

pub(crate) mod formats;

pub mod mapping;

pub mod ltr;

pub mod importing;

pub mod merging;

pub mod capture;

mod hashing;
pub mod learning;
pub mod linking;

pub mod characteristics;

pub mod reference;

pub mod findings;

pub mod report;

pub mod calibration;

pub mod analysis;
