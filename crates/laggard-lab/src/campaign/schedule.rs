//! What was decided before anything was done: the same seed gives the same bytes.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::config::Config;
use crate::inject::{Choice, Fault, PlannedFault};
use crate::machine::LabError;
use crate::runner::case::{self, Cell};

/// The generator that all choices come from.
const RANDOM: &str = "splitmix64";
const VERSION: u32 = 1;

/// Of a whole campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Of this form.
    pub version: u32,
    /// The campaign.
    pub campaign: String,
    /// What all choices follow from.
    pub seed: u64,
    /// How they follow.
    pub random: String,
    /// A sum of the campaign file.
    pub config: String,
    /// The cells, in order.
    pub cells: Vec<Cell>,
}

/// Of one cell, with what was chosen once its files were there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellSchedule {
    /// Of this form.
    pub version: u32,
    /// The campaign.
    pub campaign: String,
    /// Its seed.
    pub seed: u64,
    /// How choices follow from seeds.
    pub random: String,
    /// A sum of the campaign file.
    pub config: String,
    /// The cell.
    pub cell: Cell,
    /// What goes wrong.
    pub model: Option<Fault>,
    /// For how long at the most.
    pub ttl_seconds: u64,
    /// What was chosen, by node. Names that a file system gives by chance are left out.
    pub choices: BTreeMap<String, Vec<Choice>>,
}

impl Schedule {
    /// The schedule of a campaign.
    pub fn of(config: &Config) -> Schedule {
        Schedule {
            version: VERSION,
            campaign: config.name.clone(),
            seed: config.seed,
            random: RANDOM.into(),
            config: sum(&config.text),
            cells: case::of(config),
        }
    }
}

impl CellSchedule {
    /// The schedule of a cell, and of what is done in it.
    pub fn of(config: &Config, cell: &Cell, planned: Option<&PlannedFault>) -> CellSchedule {
        let parts = planned.into_iter().flat_map(|planned| &planned.steps);
        let choices = parts.map(|part| (part.node.name.clone(), part.choices.iter().map(plain).collect()));
        CellSchedule {
            version: VERSION,
            campaign: config.name.clone(),
            seed: config.seed,
            random: RANDOM.into(),
            config: sum(&config.text),
            cell: cell.clone(),
            model: planned.map(|planned| planned.fault.clone()),
            ttl_seconds: planned.and_then(|planned| planned.ttl_seconds).unwrap_or(0),
            choices: choices.collect(),
        }
    }

    /// Reads one.
    pub fn read(path: &Path) -> Result<CellSchedule, LabError> {
        let text = std::fs::read_to_string(path).map_err(LabError::at(path))?;
        let wrong = |what: String| LabError::Input(format!("{}: {what}", path.display()));
        let schedule: CellSchedule = serde_json::from_str(&text).map_err(|error| {
            wrong(format!("is no schedule of a cell: {error}; name cell/FAULT/NODES/N/schedule.json"))
        })?;
        if schedule.version != VERSION || schedule.random != RANDOM {
            return Err(wrong("is no schedule of this version".into()));
        }
        Ok(schedule)
    }
}

/// GlusterFS has a second name for every file, by chance, in a hidden folder.
fn plain(choice: &Choice) -> Choice {
    match choice {
        Choice::Delete { names, bytes } => {
            let is_plain = |name: &&String| !name.split('/').any(|part| part.starts_with('.'));
            Choice::Delete { names: names.iter().filter(is_plain).cloned().collect(), bytes: *bytes }
        }
        other => other.clone(),
    }
}

/// A sum of a text.
pub fn sum(text: &str) -> String {
    format!("{:016x}", twox_hash::XxHash3_64::oneshot(text.as_bytes()))
}

/// Writes a value as JSON, whole or not at all.
pub fn write(path: &Path, value: &impl Serialize) -> Result<(), LabError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| LabError::Input(error.to_string()))?;
    let new = path.with_extension("new");
    let written = std::fs::File::create(&new).and_then(|mut file| {
        file.write_all((text + "\n").as_bytes())?;
        // Else a name may be on disk before what it stands for.
        file.sync_all()
    });
    written.map_err(LabError::at(&new))?;
    std::fs::rename(&new, path).map_err(LabError::at(path))
}

#[cfg(test)]
mod tests {
    use super::super::testing::config;
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_another_gives_others() {
        let text = |seed| {
            let mut config = config();
            config.seed = seed;
            serde_json::to_string(&Schedule::of(&config)).unwrap()
        };
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
    }

    #[test]
    fn names_given_by_chance_are_no_choice_of_ours() {
        let of = |by_chance: &str| {
            let names = vec!["data/v/f1".to_owned(), format!("data/.glusterfs/{by_chance}")];
            plain(&Choice::Delete { names, bytes: 3 })
        };
        assert_eq!(of("0a/b1"), of("77/c2"));
    }

    #[test]
    fn a_schedule_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("schedule.json");
        let config = config();
        let schedule = CellSchedule::of(&config, &case::of(&config)[0], None);
        write(&path, &schedule).unwrap();
        assert_eq!(CellSchedule::read(&path).unwrap(), schedule);
        std::fs::write(&path, "{}").unwrap();
        assert!(CellSchedule::read(&path).unwrap_err().to_string().contains("is no schedule of a cell"));
    }
}
