//! Tables: metrics of a dataset on a time grid.
//! In: a dataset and metrics. Out: core's tables. Always: each segment is read once for all metrics.

pub mod dataset_recording;
mod query;
pub mod tabulate;
mod timed_segment;
