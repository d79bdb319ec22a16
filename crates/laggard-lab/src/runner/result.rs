//! The result of a case.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::case::Case;
use super::stat::Stat;
use crate::verifiable_files::outcome::Outcome;

/// The result of a case: `result.json`, which exists only when the case is finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    pub version: u32,
    pub case: Case,
    /// Why the case says nothing about the file system.
    pub infra: Option<String>,
    /// The file system's own check before the fault.
    pub fsck0: Option<StepResult>,
    /// The same with the fault.
    pub fsck: Option<StepResult>,
    /// The campaign's checks with the fault.
    pub checks: BTreeMap<String, StepResult>,
    /// `check.read` after the fault was reverted.
    pub reverted: Option<StepResult>,
    /// The file system's complaint if it did not become healthy in time after the revert.
    pub unrecovered: Option<String>,
    /// In nanoseconds since 1970.
    pub injected_ns: Option<u64>,
    /// When the revert began.
    pub revert_ns: Option<u64>,
    /// From the injection until the file system's own status reported it.
    pub status_s: Option<f64>,
    /// From the injection until a client met an error.
    pub felt_s: Option<f64>,
    /// From the begin of the revert until the file system reported itself healthy and repaired.
    pub recover_s: Option<f64>,
    /// Things left behind, and faults that could not be reverted.
    pub dirty: Vec<String>,
    pub diagnosis: Option<Diagnosis>,
    /// The file system's version.
    pub versions: String,
    pub took_s: f64,
}

/// The outcome of a step, with the numbers of its tally.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    pub outcome: Outcome,
    /// The outcome with numbers: `partial(3/40 EIO)`.
    pub short: String,
    /// A remark, such as "degraded" or "mount".
    pub note: Option<String>,
    pub seconds: f64,
    pub files_lost: u64,
    pub files: u64,
    pub bytes_lost: u64,
}

/// The diagnosis of the recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The worst first.
    pub suspects: Vec<String>,
    /// The first suspect belongs to a node with the fault.
    pub is_right: bool,
    /// From the injection until the first right suspect was anomalous.
    pub seconds: Option<f64>,
    /// Why there is no diagnosis.
    pub error: Option<String>,
}

/// The verdict on a case, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All checks are ok, and fsck reports nothing.
    Healthy,
    /// All checks are ok; fsck reports a problem.
    Survived,
    /// A check failed, and fsck reports a problem.
    Reported,
    /// A check failed, and fsck reports nothing.
    Silent,
    /// The file system is not as before after the fault was reverted.
    NotRecovered,
    /// Something was left behind.
    Dirty,
    /// The case says nothing about the file system.
    InfraFail,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Healthy => "healthy",
            Verdict::Survived => "survived",
            Verdict::Reported => "failed, reported",
            Verdict::Silent => "SILENT",
            Verdict::NotRecovered => "NOT RECOVERED",
            Verdict::Dirty => "DIRTY",
            Verdict::InfraFail => "infra-fail",
        }
    }
}

const VERSION: u32 = 1;

impl CaseResult {
    /// Of a case that has just begun.
    pub fn new(case: &Case) -> CaseResult {
        CaseResult {
            version: VERSION,
            case: case.clone(),
            infra: None,
            fsck0: None,
            fsck: None,
            checks: BTreeMap::new(),
            reverted: None,
            unrecovered: None,
            injected_ns: None,
            revert_ns: None,
            status_s: None,
            felt_s: None,
            recover_s: None,
            dirty: vec![],
            diagnosis: None,
            versions: String::new(),
            took_s: 0.0,
        }
    }

    /// Every check is ok.
    pub fn is_intact(&self) -> bool {
        self.checks.values().all(|result| result.outcome.is_ok())
    }

    /// Fsck reports that nothing is wrong, or that everything was repaired.
    pub fn is_called_fine(&self) -> bool {
        self.fsck.as_ref().is_some_and(|result| result.outcome.is_ok() && result.note.is_none())
    }

    /// Fsck reports that nothing is wrong, while a check failed.
    pub fn is_silent(&self) -> bool {
        self.infra.is_none() && self.is_called_fine() && !self.is_intact()
    }

    pub fn verdict(&self) -> Verdict {
        let is_read = self.reverted.as_ref().is_none_or(|result| result.outcome.is_ok());
        if self.infra.is_some() {
            Verdict::InfraFail
        } else if !self.dirty.is_empty() {
            Verdict::Dirty
        } else if self.is_silent() {
            Verdict::Silent
        } else if !is_read || self.unrecovered.is_some() {
            Verdict::NotRecovered
        } else if !self.is_intact() {
            Verdict::Reported
        } else if self.is_called_fine() {
            Verdict::Healthy
        } else {
            Verdict::Survived
        }
    }
}

impl From<&Stat> for StepResult {
    fn from(stat: &Stat) -> StepResult {
        let tally = stat.tally.as_ref();
        StepResult {
            outcome: stat.outcome,
            short: stat.short(),
            note: stat.note.clone(),
            seconds: stat.seconds(),
            files_lost: tally.map_or(0, |tally| tally.total.saturating_sub(tally.ok)),
            files: tally.map_or(0, |tally| tally.total),
            bytes_lost: tally.map_or(0, |tally| tally.bytes_lost),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::testing::{result, step_result};

    #[test]
    fn a_check_that_fails_while_fsck_reports_nothing_is_silent() {
        let verdict = |fsck, read| result("cut/ONE", fsck, read).verdict();
        assert_eq!(verdict(Outcome::Normal, Outcome::Ok), Verdict::Healthy);
        assert_eq!(verdict(Outcome::Normal, Outcome::Corrupt), Verdict::Silent);
        assert_eq!(verdict(Outcome::Repaired, Outcome::IoErr), Verdict::Silent);
        assert_eq!(verdict(Outcome::Aborted, Outcome::Corrupt), Verdict::Reported);
        assert_eq!(verdict(Outcome::Hang, Outcome::Ok), Verdict::Survived);
    }

    #[test]
    fn what_is_left_behind_or_not_recovered_counts_more_than_the_checks() {
        let mut case = result("cut/ONE", Outcome::Normal, Outcome::Ok);
        case.reverted = Some(step_result(Outcome::Corrupt));
        assert_eq!(case.verdict(), Verdict::NotRecovered);
        case.reverted = Some(step_result(Outcome::Ok));
        case.unrecovered = Some("7 entries left to heal".into());
        assert_eq!(case.verdict(), Verdict::NotRecovered);
        case.dirty = vec!["+ nft table".into()];
        assert_eq!(case.verdict(), Verdict::Dirty);
        case.infra = Some("the lab did not come up".into());
        assert_eq!(case.verdict(), Verdict::InfraFail);
    }
}
