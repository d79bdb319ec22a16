//! The schedule of a case: all choices, on disk before the fault is injected. The same seed gives the same bytes.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::case::Case;
use crate::inject::{Choice, Fault, PlannedFault};
use crate::machine::LabError;

/// The generator that all choices come from.
const RANDOM: &str = "splitmix64";
const VERSION: u32 = 1;

/// The campaign that a schedule belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Origin {
    pub version: u32,
    pub campaign: String,
    pub seed: u64,
    /// The random number generator.
    pub random: String,
    /// A checksum of the campaign file.
    pub config: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CaseSchedule {
    #[serde(flatten)]
    pub origin: Origin,
    pub case: Case,
    pub model: Option<Fault>,
    pub ttl_seconds: u64,
    /// By node. Names that a file system draws at random are left out.
    pub choices: BTreeMap<String, Vec<Choice>>,
}

impl Origin {
    pub(crate) fn new(campaign: &str, seed: u64, config: &str) -> Origin {
        Origin {
            version: VERSION,
            campaign: campaign.to_owned(),
            seed,
            random: RANDOM.into(),
            config: checksum(config),
        }
    }
}

impl CaseSchedule {
    pub(crate) fn of(origin: &Origin, case: &Case, planned: Option<&PlannedFault>) -> CaseSchedule {
        let steps = planned.into_iter().flat_map(|planned| &planned.steps);
        let choices = steps.map(|step| (step.node.name.clone(), step.choices.iter().map(plain).collect()));
        CaseSchedule {
            origin: origin.clone(),
            case: case.clone(),
            model: planned.map(|planned| planned.fault.clone()),
            ttl_seconds: planned.and_then(|planned| planned.ttl_seconds).unwrap_or(0),
            choices: choices.collect(),
        }
    }

    pub(crate) fn read(path: &Path) -> Result<CaseSchedule, LabError> {
        let text = std::fs::read_to_string(path).map_err(LabError::at(path))?;
        let wrong = |what: String| LabError::Input(format!("{}: {what}", path.display()));
        let schedule: CaseSchedule = serde_json::from_str(&text).map_err(|error| {
            wrong(format!("is not the schedule of a case: {error}; name case/FAULT/NODES/N/schedule.json"))
        })?;
        if schedule.origin.version != VERSION || schedule.origin.random != RANDOM {
            return Err(wrong("is not a schedule of this version".into()));
        }
        Ok(schedule)
    }
}

/// GlusterFS has a second, random name for every file in a hidden folder.
fn plain(choice: &Choice) -> Choice {
    match choice {
        Choice::Delete { names, bytes } => {
            let is_plain = |name: &&String| !name.split('/').any(|part| part.starts_with('.'));
            Choice::Delete { names: names.iter().filter(is_plain).cloned().collect(), bytes: *bytes }
        }
        other => other.clone(),
    }
}

pub(crate) fn checksum(text: &str) -> String {
    format!("{:016x}", twox_hash::XxHash3_64::oneshot(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::files::write_json;
    use super::*;

    #[test]
    fn names_drawn_by_the_file_system_are_not_choices() {
        let of = |random: &str| {
            let names = vec!["data/v/f1".to_owned(), format!("data/.glusterfs/{random}")];
            plain(&Choice::Delete { names, bytes: 3 })
        };
        assert_eq!(of("0a/b1"), of("77/c2"));
    }

    #[test]
    fn a_schedule_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("schedule.json");
        let case = Case { nodes: "ONE".into(), faulted: vec!["s2".into()], fault: None, repeat: 1, seed: 7 };
        let schedule = CaseSchedule::of(&Origin::new("c", 42, "text"), &case, None);
        write_json(&path, &schedule).unwrap();
        assert_eq!(CaseSchedule::read(&path).unwrap(), schedule);
        std::fs::write(&path, "{}").unwrap();
        let error = CaseSchedule::read(&path).unwrap_err().to_string();
        assert!(error.contains("is not the schedule of a case"), "{error}");
    }
}
