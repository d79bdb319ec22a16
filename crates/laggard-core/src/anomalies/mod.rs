//! What a method says of each component in each window.
//! In: the tables of a peer group, through a [`crate::methods::Detector`]. Out: [`Judgement`]s.
//! Always: a verdict for every member of the group in every window, in the order of the members.

pub mod filter;
pub mod thresholds;
pub mod training;
pub mod yardstick;

use crate::model::metric::Metric;
use crate::windows::Window;

/// What a method says of one component in one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// How unlike its peers it is. NaN: could not be judged.
    pub score: f32,
    /// The score from which on it is anomalous.
    pub threshold: f32,
    /// Whether it is unlike its peers in this window.
    pub is_anomalous: bool,
    /// Whether it has been so often enough, up to and including this window, to be called faulty.
    pub is_faulty: bool,
}

/// The verdicts of one window, one for each member of the peer group.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedWindow {
    /// When.
    pub window: Window,
    /// Of each member.
    pub verdicts: Vec<Verdict>,
}

/// What a method says of one metric of a peer group, window by window, in the order of their ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Which metric.
    pub metric: &'static Metric,
    /// When, and of whom.
    pub windows: Vec<JudgedWindow>,
}
