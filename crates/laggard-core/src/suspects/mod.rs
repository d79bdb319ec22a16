//! From anomalies to suspects.
//! In: [`crate::scores::MetricScores`]s. Out: lists of suspects. Always: the order of the components changes no list.

pub mod blame;
pub mod episodes;
pub mod persistence;
pub mod ranked;
pub mod sharpen;
pub mod standing;
pub mod window_times;

pub mod applied_feedback;
pub mod feedback;
pub mod feedback_file;
pub mod host_outages;
pub mod listing;
pub mod ordinary;
