//! Plays a cell once more: as it was, or on fewer nodes.

use std::path::{Path, PathBuf};

use super::config::Config;
use super::recovery::{self, Turn};
use super::run;
use super::schedule::CellSchedule;
use super::shrink::ddmin;
use crate::machine::LabError;
use crate::runner::case::Cell;
use crate::runner::frame::{self, Played};
use crate::runner::result::CellResult;
use crate::runner::steps::Stage;

/// What a replay came to.
#[derive(Debug)]
pub struct Replayed {
    /// Where it lies.
    pub folder: PathBuf,
    /// Whether the same was chosen.
    pub is_same_choice: bool,
    /// What became of it then; none if that is gone.
    pub then: Option<CellResult>,
    /// What became of it now; none if somebody wanted to stop.
    pub now: Option<CellResult>,
}

/// A cell that was played, and the campaign it is of.
#[derive(Debug)]
pub struct Past {
    /// The campaign, as it was when the run began.
    pub config: Config,
    /// The cell.
    pub schedule: CellSchedule,
    /// Where it lies.
    pub folder: PathBuf,
    /// The folder of its run.
    pub run: PathBuf,
}

impl Past {
    /// The cell of a folder, or of a `schedule.json` in it.
    pub fn read(path: &Path) -> Result<Past, LabError> {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new(".")) };
        let folder = std::path::absolute(folder).map_err(LabError::at(folder))?;
        let schedule = CellSchedule::read(&folder.join("schedule.json"))?;
        let above = folder.ancestors().map(|above| above.join("campaign.toml")).find(|file| file.is_file());
        let lacks = || {
            LabError::Input(format!("{}: no campaign.toml above it: name a cell of a run", folder.display()))
        };
        let above = above.ok_or_else(lacks)?;
        let mut config = Config::read(&above)?;
        config.seed = schedule.seed;
        let run = above.parent().unwrap_or(&folder).to_owned();
        Ok(Past { config, schedule, run, folder })
    }
}

/// Plays a cell again, with the same choices. Time is not the same: what depends on it may come out otherwise.
pub fn replay(past: &Past, stage: Stage) -> Result<Replayed, LabError> {
    let turn = Turn::take(&past.run)?;
    recovery::recover(&past.run, &past.config, &turn)?;
    let folder = fresh(&past.folder, "replay");
    let now = play_one(stage, &past.schedule.cell, &folder)?;
    let again = CellSchedule::read(&folder.join("schedule.json")).ok();
    Ok(Replayed {
        is_same_choice: again.as_ref() == Some(&past.schedule),
        then: run::read(&past.folder),
        folder,
        now,
    })
}

/// The fewest of the hurt nodes with which the cell still has the same verdict; and every set that was tried.
pub fn shrink(past: &Past, stage: Stage) -> Result<Vec<String>, LabError> {
    let turn = Turn::take(&past.run)?;
    recovery::recover(&past.run, &past.config, &turn)?;
    let then = run::read(&past.folder);
    let wanted = then.map(|result| result.verdict());
    let wanted = wanted.ok_or_else(|| LabError::Input("the cell is not over: play it first".into()))?;
    let cell = &past.schedule.cell;
    if cell.hurt.len() < 2 {
        return Err(LabError::Input(format!(
            "{} hurts {} nodes: nothing to shrink",
            cell.name(),
            cell.hurt.len()
        )));
    }
    let mut still_fails = |some: &[String]| {
        let smaller = Cell { hurt: some.to_vec(), ..cell.clone() };
        let folder = fresh(&past.folder, "shrink");
        let result = play_one(stage, &smaller, &folder)?;
        let result = result.ok_or_else(|| LabError::Input("ended early: nothing can be said".into()))?;
        let verdict = result.verdict();
        (stage.tell)(&format!("shrink: {} alone: {}", some.join(", "), verdict.as_str()));
        Ok(verdict == wanted)
    };
    ddmin(&cell.hurt, &mut still_fails)
}

fn play_one(stage: Stage, cell: &Cell, folder: &Path) -> Result<Option<CellResult>, LabError> {
    match frame::play(stage, cell, folder)? {
        Played::Whole(result) => Ok(Some(*result)),
        Played::CutShort(None, left) if left.is_empty() => Ok(None),
        Played::CutShort(why, left) => {
            let all: Vec<String> = why.into_iter().chain(left).collect();
            Err(LabError::Input(all.join("; ")))
        }
    }
}

/// A folder beside a cell that is not there yet.
fn fresh(folder: &Path, kind: &str) -> PathBuf {
    let numbers = 1_u32..;
    let name = |number: u32| folder.join(kind).join(number.to_string());
    numbers.map(name).find(|path| !path.exists()).unwrap_or_else(|| folder.join(kind))
}
