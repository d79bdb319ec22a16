//! The model of a storage system, and the pure pipeline that works on it.
//!
//! In flow order: [`model`] (components, metrics, time), [`samples`] (raw counters), [`tables`] (metrics on a common
//! time grid), [`selection`] (which components are peers), [`scores`] (the distance of each component from its peers in each window, as one of the [`methods`]
//! computes it), [`evaluation`] (all peer groups of a recording), [`suspects`] (which components are to blame, and for how
//! long), [`diagnosis`] (why), [`report`] (text, JSON and HTML). [`pipeline`] names the stages in one function and reads
//! through the trait [`recording::Recording`]; [`training`] learns thresholds.
//! No clock, no files: code that needs one of these gets it as an argument from another crate.

pub mod model;
pub mod samples;
pub mod scores;
pub mod tables;

pub mod selection;

pub mod methods;

pub mod evaluation;

pub mod suspects;

pub mod diagnosis;
pub mod training;

pub mod report;

pub mod pipeline;
pub mod recording;
