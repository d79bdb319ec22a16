//! Everything that limits a diagnosis or a training, as values. Their texts are in `report/warning_texts.rs`.

use super::causes::Cause;
use crate::methods::papers::training::TrainingError;
use crate::model::time::{Span, Timestamp};

#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Incidents that are over and were too short and mild to report.
    BriefIncidents {
        count: usize,
        worst: String,
        since: Timestamp,
        until: Timestamp,
    },
    /// A server that uses its own disks while their peers rest.
    OwnJobs {
        server: String,
        affected: usize,
        held: usize,
        since: Timestamp,
        until: Timestamp,
    },
    UnevenLoad {
        component: String,
        since: Timestamp,
        until: Timestamp,
    },
    /// A component that works while all its peers rest.
    NoPeerAtWork {
        component: String,
    },
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
    ShortTraining {
        length: Span,
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
