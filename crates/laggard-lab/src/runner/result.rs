//! What became of a cell.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::case::Cell;
use super::stat::Stat;
use crate::work::outcome::Outcome;

/// What became of a cell. It is there only when the cell is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    /// Of this form.
    pub version: u32,
    /// The cell.
    pub cell: Cell,
    /// Why nothing can be said of it.
    pub infra: Option<String>,
    /// The file system's own check, before the fault and with it.
    pub fsck0: Option<Word>,
    /// The same with the fault there.
    pub fsck: Option<Word>,
    /// Ours, with the fault there.
    pub checks: BTreeMap<String, Word>,
    /// What could be read after all was healed.
    pub healed: Option<Word>,
    /// What the file system still complained about when its time to get well was over.
    pub unhealed: Option<String>,
    /// When the fault was there, in nanoseconds since 1970.
    pub injected_ns: Option<u64>,
    /// When its healing began.
    pub heal_ns: Option<u64>,
    /// From the fault until the file system's own status told of it.
    pub status_s: Option<f64>,
    /// From the fault until a client noticed.
    pub felt_s: Option<f64>,
    /// From the beginning of the healing until the file system said that all is well and mended.
    pub recover_s: Option<f64>,
    /// What was left behind, or could not be healed.
    pub dirty: Vec<String>,
    /// Whether a diagnosis of what was recorded names the culprit.
    pub diagnosis: Option<Diagnosis>,
    /// The file system, as it calls itself.
    pub versions: String,
    /// How long it took.
    pub took_s: f64,
}

/// What became of a step, in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// One word.
    pub outcome: Outcome,
    /// With numbers.
    pub short: String,
    /// Something that the word does not say.
    pub note: Option<String>,
    /// How long it took.
    pub seconds: f64,
    /// Files that were not well.
    pub files_lost: u64,
    /// Of so many.
    pub files: u64,
    /// Bytes of them.
    pub bytes_lost: u64,
}

/// What a diagnosis of the recorded metrics says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The components that it names, the worst first.
    pub suspects: Vec<String>,
    /// Whether the first is one of those that were hurt.
    pub is_right: bool,
    /// From the fault until the first right suspect was anomalous.
    pub seconds: Option<f64>,
    /// Why there is none.
    pub error: Option<String>,
}

/// How a cell is to be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// All checks are well, and the file system's own says so.
    Well,
    /// All checks are well; the file system tells that something is wrong.
    Survived,
    /// Some check failed, and the file system told of it.
    Told,
    /// Some check failed, and the file system's own says that nothing is wrong.
    Silent,
    /// What was healed is not as it was before.
    NotHealed,
    /// Something was left behind.
    Dirty,
    /// Nothing can be said.
    InfraFail,
}

impl Verdict {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Well => "well",
            Verdict::Survived => "survived",
            Verdict::Told => "failed, told",
            Verdict::Silent => "SILENT",
            Verdict::NotHealed => "NOT HEALED",
            Verdict::Dirty => "DIRTY",
            Verdict::InfraFail => "infra-fail",
        }
    }
}

const VERSION: u32 = 1;

impl CellResult {
    /// Of a cell that has just begun.
    pub fn new(cell: &Cell) -> CellResult {
        CellResult {
            version: VERSION,
            cell: cell.clone(),
            infra: None,
            fsck0: None,
            fsck: None,
            checks: BTreeMap::new(),
            healed: None,
            unhealed: None,
            injected_ns: None,
            heal_ns: None,
            status_s: None,
            felt_s: None,
            recover_s: None,
            dirty: vec![],
            diagnosis: None,
            versions: String::new(),
            took_s: 0.0,
        }
    }

    /// Whether every check is well.
    pub fn is_intact(&self) -> bool {
        self.checks.values().all(|word| word.outcome.is_well())
    }

    /// Whether the file system's own check says that nothing is wrong, or that it has mended what was.
    pub fn is_called_fine(&self) -> bool {
        self.fsck.as_ref().is_some_and(|word| word.outcome.is_well() && word.note.is_none())
    }

    /// Whether the file system's own check says that all is fine, while it is not.
    pub fn is_silent(&self) -> bool {
        self.infra.is_none() && self.is_called_fine() && !self.is_intact()
    }

    /// How it is to be judged.
    pub fn verdict(&self) -> Verdict {
        let is_healed = self.healed.as_ref().is_none_or(|word| word.outcome.is_well());
        match () {
            () if self.infra.is_some() => Verdict::InfraFail,
            () if !self.dirty.is_empty() => Verdict::Dirty,
            () if self.is_silent() => Verdict::Silent,
            () if !is_healed || self.unhealed.is_some() => Verdict::NotHealed,
            () if !self.is_intact() => Verdict::Told,
            () if self.is_called_fine() => Verdict::Well,
            () => Verdict::Survived,
        }
    }
}

impl From<&Stat> for Word {
    fn from(stat: &Stat) -> Word {
        let tally = stat.tally.as_ref();
        Word {
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
    use crate::campaign::testing::{result, word};

    #[test]
    fn a_check_that_fails_while_fsck_says_fine_is_silent() {
        let verdict = |fsck, read| result("cut/ONE", fsck, read).verdict();
        assert_eq!(verdict(Outcome::Normal, Outcome::Ok), Verdict::Well);
        assert_eq!(verdict(Outcome::Normal, Outcome::Corrupt), Verdict::Silent);
        assert_eq!(verdict(Outcome::Repaired, Outcome::IoErr), Verdict::Silent);
        assert_eq!(verdict(Outcome::Aborted, Outcome::Corrupt), Verdict::Told);
        assert_eq!(verdict(Outcome::Hang, Outcome::Ok), Verdict::Survived);
    }

    #[test]
    fn what_is_left_behind_or_not_healed_counts_more_than_what_was_found() {
        let mut cell = result("cut/ONE", Outcome::Normal, Outcome::Ok);
        cell.healed = Some(word(Outcome::Corrupt));
        assert_eq!(cell.verdict(), Verdict::NotHealed);
        cell.healed = Some(word(Outcome::Ok));
        cell.unhealed = Some("7 entries left to heal".into());
        assert_eq!(cell.verdict(), Verdict::NotHealed);
        cell.dirty = vec!["+ nft table".into()];
        assert_eq!(cell.verdict(), Verdict::Dirty);
        cell.infra = Some("the lab did not come up".into());
        assert_eq!(cell.verdict(), Verdict::InfraFail);
    }
}
