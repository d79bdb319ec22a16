//! Compares what a method reports with the labels of the data.
//! In: scores or reports of a method, and labels. Out: rates, delays and counts. Always: the names and the order of
//! components do not change the result.

pub(crate) mod labels;
pub(crate) mod truth;

pub(crate) mod comparison;
pub(crate) mod prefix;
pub(crate) mod sampled_time;
pub(crate) mod scored_method;

mod confusion;
mod sweep;

pub(crate) mod events;
pub(crate) mod experiments;
pub(crate) mod reliability;
pub(crate) mod reported;
pub(crate) mod stream;
pub(crate) mod windows;

pub(crate) mod scoring_run;
pub(crate) mod window_means;

#[cfg(test)]
mod testing;

pub use comparison::ComparisonMethod;
pub use confusion::Confusion;
pub use events::{EventResult, KindScores};
pub use experiments::{BenchRates, Rates};
pub use labels::{Label, LabelsError};
pub use reliability::{Reliability, ReliabilityBin, Verdict};
pub use scored_method::{RunSettings, ScoredMethod, laggard};
pub use stream::{Checkpoint, Delay, Point, StreamScores};
pub use windows::WindowScores;
