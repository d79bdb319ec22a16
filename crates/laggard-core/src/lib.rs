//! The model of a storage system, and the pure pipeline that works on it.
//!
//! In flow order: [`model`] (what there is: components, metrics, time), [`samples`] (what was recorded),
//! [`tables`] (metrics on a common time grid), [`scores`] (how far each component is from its peers in each window, as one
//! of the [`methods`] computes it in an [`examination`] of all groups), [`suspects`] (who has been so for how long), [`diagnosis`] (why), [`report`] (what is told).
//! No clock, no files: whatever needs one of these gets it as an argument from another crate.

pub mod model;
pub mod samples;
pub mod scores;
pub mod tables;

pub mod methods;

pub mod examination;

pub mod suspects;

pub mod diagnosis;
pub mod report;
