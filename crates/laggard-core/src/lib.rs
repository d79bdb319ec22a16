//! The model of a storage system, and the pure pipeline that works on it.
//!
//! In flow order: [`model`] (what there is: components, metrics, time), [`samples`] (what was recorded),
//! [`tables`] (metrics on a common time grid). No clock, no files, no threads: whatever needs one of these
//! gets it as an argument from another crate.

pub mod model;
pub mod samples;
pub mod tables;
