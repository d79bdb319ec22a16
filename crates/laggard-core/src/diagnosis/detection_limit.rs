//! Detection limits: slowdowns of a disk that a diagnosis of this recording reports. They are measured outside of core,
//! by trials on the recording.

use serde::Serialize;

/// How a disk is slower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Every request takes `magnitude` times as long.
    Constant,
    /// The same, growing from 1 to `magnitude`.
    Ramp,
    /// The disk freezes for `magnitude` seconds in every minute.
    Stalls,
}

impl Pattern {
    pub const ALL: [Pattern; 3] = [Pattern::Constant, Pattern::Ramp, Pattern::Stalls];

    pub fn as_str(self) -> &'static str {
        match self {
            Pattern::Constant => "constant",
            Pattern::Ramp => "ramp",
            Pattern::Stalls => "stalls",
        }
    }
}

/// The smallest magnitude of one pattern and duration that is found reliably.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DetectionLimit {
    pub pattern: Pattern,
    pub duration_seconds: f64,
    /// True if it is the duration of the recording.
    pub is_whole: bool,
    /// Nothing if no tried magnitude is.
    pub magnitude: Option<f64>,
    pub largest_tried: f64,
    pub trials: usize,
    /// Trials that found this magnitude, or the largest one tried.
    pub found: usize,
    /// Disks in the diagnoses of the trials, and in that of the recording.
    pub disks: usize,
    pub all_disks: usize,
}
