//! Event traces of the layers of an I/O stack, and the layer that slows requests down.
//!
//! In flow order: [`model`] (requests that cross layers, as events), `tracepoints` (events of the kernel), `mapping`
//! (tracepoints to requests of layers), `formats` (readers of other tools' traces), [`ltr`] (the trace file),
//! [`importing`], [`merging`], [`capture`], `linking` (which request of one layer caused which of the next),
//! [`characteristics`] (metrics of every layer), [`selection`] (the processes and layers to analyse), [`analysis`] (one
//! pass from records to characteristics), [`excerpts`] (single requests, in a second pass), [`reference`](mod@reference)
//! (expected ranges), [`calibration`], [`findings`] (the layer that slows requests down, and why), [`difference`],
//! [`report`].

pub mod model;

mod hashing;
mod tracepoints;

mod mapping;

mod formats;

pub mod ltr;

pub mod importing;

pub mod merging;

pub mod capture;

mod linking;

pub mod characteristics;

pub mod selection;

pub mod analysis;

pub mod excerpts;

pub mod reference;

pub mod calibration;

pub mod findings;

pub mod difference;

pub mod numbers;

pub mod report;

pub use mapping::Roles;
