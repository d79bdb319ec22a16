//! Everything that limits a diagnosis or a training, as values. Their texts are in `report/warning_texts.rs`.

use super::causes::Cause;
use crate::methods::papers::training::TrainingError;
use crate::model::metric::MetricId;
use crate::model::time::{Span, Timestamp};

#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Groups without a window that could be evaluated, by a method that needs a recording of `needed`.
    NoWindow {
        groups: Vec<SizedGroup>,
        needed: Option<Span>,
    },
    TooFewPeers {
        groups: Vec<SizedGroup>,
    },
    UnequalIntervals {
        shortest: Span,
        longest: Span,
    },
    Gaps {
        count: usize,
    },
    /// Hosts recorded later than the others by a time (earlier where it is negative).
    ShiftedClocks {
        hosts: Vec<(String, Span)>,
    },
    /// A file that could not be read, or not all of it.
    Unreadable {
        problem: String,
    },
    /// Incidents that operators have repaired or ignored.
    SettledByFeedback {
        repaired: Vec<String>,
        ignored: Vec<String>,
    },
    Untrained {
        method: String,
    },
    /// Metrics that the trained thresholds do not have.
    NoThresholds {
        metrics: Vec<String>,
    },
    /// Files that could not be imported, or not to their end.
    NotImported {
        files: u64,
    },
    NothingEvaluated {
        reason: String,
    },
    /// A metric that could not be trained.
    NotTrained {
        reason: TrainingError,
    },
    /// Thresholds that no score can exceed.
    UselessThresholds {
        group: String,
        metric: MetricId,
        /// How many of the members have such a threshold.
        useless: usize,
        members: usize,
        /// All members share one threshold, which is counted as one.
        is_common: bool,
        highest_score: f64,
    },
    ShortTraining {
        length: Span,
    },
    /// Components that are not in the training data of a method that knows usual ratios, of all that were compared.
    UnknownComponents {
        components: Vec<String>,
        compared: usize,
    },
    NotCalm {
        suspects: Vec<KnownIncident>,
    },
    CalmnessUnknown {
        reason: String,
    },
}

/// A peer group and its number of members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizedGroup {
    pub name: String,
    pub members: usize,
}

/// A suspect of the training time.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownIncident {
    pub component: String,
    pub cause: Cause,
    pub since: Timestamp,
    pub until: Timestamp,
}
