//! From anomalies to suspects.
//! In: [`crate::scores::MetricScores`]s. Out: lists of suspects. Always: the order of the components changes no list.

pub mod blame;
pub mod episodes;
pub mod persistence;
pub mod ranked;

pub mod answers;
pub mod feedback;
pub mod listing;
pub mod notebook;
