//! From episodes to suspects with causes.
//! In: episodes, and the metrics of all components. Out: [`Diagnosis`], most serious suspect first.
//! Always: where evidence is thin, the cause is unknown.
//!
//! A new cause is one file in `causes/`; a new warning is a variant in `warning.rs`.

mod calibration;
pub mod causes;
pub mod confidence;
pub mod detection_limit;
mod evidence;
mod group;
pub mod label;
mod observation;
pub mod picture_data;
mod suspect;
mod warning;

mod advice;
mod checklist;
mod common_end;
pub mod context;
mod distance;
mod evidence_order;
pub mod explain;
pub mod facts;
mod harmless;
mod independence;
mod load;
mod merge;
pub(crate) mod mild;
pub mod peers;
pub mod pictures;
pub(crate) mod plain_errors;
pub mod requests;
mod same_load;
mod same_work;
pub mod severity;
mod silence;
pub(crate) mod tentative;
mod traffic;
mod weigh;

pub use causes::Cause;
pub use evidence::Evidence;
pub use group::{Group, LeftOutClass, NotCompared, NotEvaluated};
pub use observation::{Difference, LoadDifference, Observation, SlowReason};
pub use picture_data::{Comparison, HeatMap, Mark, Node, PICTURED, Pictures};
pub use suspect::{Alternative, Named, OtherTime, Suspect};
pub use warning::{KnownIncident, SizedGroup, Warning};

use crate::model::time::Timestamp;

/// The result of a diagnosis, before it is rendered.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    pub method: String,
    /// The diagnosed time; nothing where there are no samples.
    pub time: Option<(Timestamp, Timestamp)>,
    pub suspects: Vec<Suspect>,
    pub observations: Vec<Observation>,
    pub groups: Vec<Group>,
    pub left_out: Vec<LeftOutClass>,
    pub warnings: Vec<Warning>,
    pub pictures: Pictures,
}
