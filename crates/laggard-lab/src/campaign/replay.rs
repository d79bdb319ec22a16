//! Runs a case again: with the same choices, or on fewer nodes.

use std::path::{Path, PathBuf};

use super::config::Config;
use super::recovery::{self, RunLock};
use super::run;
use super::shrink::ddmin;
use crate::machine::LabError;
use crate::runner::case::Case;
use crate::runner::case_plan::Callbacks;
use crate::runner::case_schedule::CaseSchedule;
use crate::runner::lifecycle::{self, CaseOutcome};
use crate::runner::result::CaseResult;

#[derive(Debug)]
pub struct Replay {
    pub folder: PathBuf,
    pub is_same_choice: bool,
    /// The earlier result, if it still exists.
    pub then: Option<CaseResult>,
    /// None if it was interrupted.
    pub now: Option<CaseResult>,
}

/// A case that was run, and its campaign.
#[derive(Debug)]
pub struct PastCase {
    /// As it was when the run began.
    pub config: Config,
    schedule: CaseSchedule,
    folder: PathBuf,
    run: PathBuf,
}

impl PastCase {
    /// The case of a folder, or of a `schedule.json` in it.
    pub fn read(path: &Path) -> Result<PastCase, LabError> {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new(".")) };
        let folder = std::path::absolute(folder).map_err(LabError::at(folder))?;
        let schedule = CaseSchedule::read(&folder.join("schedule.json"))?;
        let above = folder.ancestors().map(|above| above.join("campaign.toml")).find(|file| file.is_file());
        let lacks = || {
            LabError::Input(format!("{}: no campaign.toml above it: name a case of a run", folder.display()))
        };
        let above = above.ok_or_else(lacks)?;
        let config = Config::read(&above)?.with_seed(schedule.origin.seed);
        let run = above.parent().unwrap_or(&folder).to_owned();
        Ok(PastCase { config, schedule, run, folder })
    }

    /// Removes what a killed run has left, and keeps others from running.
    fn lock(&self) -> Result<RunLock, LabError> {
        let lock = RunLock::take(&self.run)?;
        recovery::recover(&self.run, &self.config, &lock)?;
        Ok(lock)
    }
}

/// Runs a case again with the same choices. Timing differs: what depends on it may have another result.
pub fn replay(past: &PastCase, callbacks: Callbacks) -> Result<Replay, LabError> {
    let _lock = past.lock()?;
    let folder = fresh(&past.folder, "replay");
    let now = run_one(past, &past.schedule.case, &folder, callbacks)?;
    let again = CaseSchedule::read(&folder.join("schedule.json")).ok();
    Ok(Replay {
        is_same_choice: again.as_ref() == Some(&past.schedule),
        then: run::read(&past.folder),
        folder,
        now,
    })
}

/// The fewest of the faulted nodes with which the case has the same verdict. `report` gets a line for each set that was
/// tried.
pub fn shrink(past: &PastCase, callbacks: Callbacks, report: &dyn Fn(&str)) -> Result<Vec<String>, LabError> {
    let _lock = past.lock()?;
    let wanted = run::read(&past.folder).map(|result| result.verdict());
    let wanted = wanted.ok_or_else(|| LabError::Input("the case is not finished: run it first".into()))?;
    let case = &past.schedule.case;
    if case.faulted.len() < 2 {
        return Err(LabError::Input(format!(
            "{} has its fault on {} nodes: nothing to shrink",
            case.name(),
            case.faulted.len()
        )));
    }
    let mut still_fails = |some: &[String]| {
        let smaller = Case { faulted: some.to_vec(), ..case.clone() };
        let result = run_one(past, &smaller, &fresh(&past.folder, "shrink"), callbacks)?;
        let result = result.ok_or_else(|| LabError::Input("interrupted: no result".into()))?;
        let verdict = result.verdict();
        report(&format!("shrink: {} alone: {}", some.join(", "), verdict.as_str()));
        Ok(verdict == wanted)
    };
    ddmin(&case.faulted, &mut still_fails)
}

fn run_one(
    past: &PastCase,
    case: &Case,
    folder: &Path,
    callbacks: Callbacks,
) -> Result<Option<CaseResult>, LabError> {
    match lifecycle::run(past.config.plan(case, folder, &past.config.origin()), callbacks)? {
        CaseOutcome::Finished(result) => Ok(Some(*result)),
        CaseOutcome::CutShort(None, left) if left.is_empty() => Ok(None),
        CaseOutcome::CutShort(why, left) => {
            let all: Vec<String> = why.into_iter().chain(left).collect();
            Err(LabError::Input(all.join("; ")))
        }
    }
}

/// A folder in that of a case that does not exist yet.
fn fresh(folder: &Path, kind: &str) -> PathBuf {
    let numbers = 1_u32..;
    let name = |number: u32| folder.join(kind).join(number.to_string());
    numbers.map(name).find(|path| !path.exists()).unwrap_or_else(|| folder.join(kind))
}
