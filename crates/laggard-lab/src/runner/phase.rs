//! The phases of a case.

use serde::{Deserialize, Serialize};

/// The phases of a case, in order. Which of the optional ones a case has is up to its
/// [`Steps`](super::case_plan::Steps).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Refuses to begin on a machine or on nodes that are not ready.
    Preflight,
    /// Builds the lab, or takes the nodes that exist; waits until the file system is healthy.
    Setup,
    /// Makes the file system look used. Optional.
    Age,
    /// Writes the files that are checked later; fsck and all checks run once without a fault. Optional.
    Init,
    /// Starts a workload on all clients and a recorder on all hosts. Optional.
    Load,
    /// Applies the fault and verifies that it is effective.
    Inject,
    /// Holds the fault; probes the file system if asked to.
    Observe,
    /// Ends the recording and diagnoses it. Optional.
    Diagnose,
    /// Runs the file system's own check. Optional.
    Fsck,
    /// Runs the checks. Optional.
    Check,
    /// Reverts the fault and verifies it; repairs the file system if asked to.
    Revert,
    /// Records for a while without the fault. Optional.
    Recover,
    /// Ends the recording and writes its labels. Optional.
    Label,
    /// Removes the lab and compares the machine with how it was before.
    Teardown,
}

impl Phase {
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Preflight => "preflight",
            Phase::Setup => "setup",
            Phase::Age => "age",
            Phase::Init => "init",
            Phase::Load => "load",
            Phase::Inject => "inject",
            Phase::Observe => "observe",
            Phase::Diagnose => "diagnose",
            Phase::Fsck => "fsck",
            Phase::Check => "check",
            Phase::Revert => "revert",
            Phase::Recover => "recover",
            Phase::Label => "label",
            Phase::Teardown => "teardown",
        }
    }
}
