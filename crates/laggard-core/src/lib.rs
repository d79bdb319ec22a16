//! The model of a storage system, and the pure pipeline that works on it.
//!
//! In flow order: [`model`] (what there is: components, metrics, time), [`samples`] (what was recorded),
//! [`tables`] (metrics on a common time grid), [`windows`] (stretches of it), [`distances`] (how far members are apart),
//! [`anomalies`] (who is unlike its peers in which window, as one of the [`methods`] finds it in an [`examination`] of all
//! groups), [`suspects`] (who has been so for how long), [`diagnosis`] (why), [`report`] (what is told).
//! No clock, no files: whatever needs one of these gets it as an argument from another crate.

pub mod model;
pub mod reading;
pub mod samples;
pub mod tables;
pub mod windows;

pub mod distances;

pub mod anomalies;
pub mod methods;

pub mod examination;

pub mod suspects;

pub mod diagnosis;
pub mod report;
