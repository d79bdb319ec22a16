//! What a campaign has found.
//! In: the folder of a run. Out: a [`Report`], and [`Table`]s of it that text, Markdown and HTML are made of.
//! Always: every figure is counted from the cells that are there; a cell of which nothing can be said is not counted
//! as well.

mod diff;
mod html;
mod logs;
mod markdown;
mod rows;
mod stages;
mod tables;

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::config::Config;
use super::run;
use super::schedule::Schedule;
use crate::machine::LabError;
use crate::runner::result::CellResult;

pub use diff::{Difference, diff, table as diff_table};
pub use html::page;
pub use logs::LogFindings;
pub use markdown::markdown;
pub use rows::{Counted, Row};
pub use stages::CellStages;
pub use tables::{Table, TableCell, tables};

/// What a campaign has found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Of this form.
    pub schema: &'static str,
    /// The campaign.
    pub campaign: String,
    /// What all choices followed from.
    pub seed: u64,
    /// How the file system was run.
    pub adapter: String,
    /// The file system, as it calls itself.
    pub versions: Vec<String>,
    /// The machine's kernel.
    pub kernel: String,
    /// Cells that were planned.
    pub planned: usize,
    /// Cells that are over.
    pub played: usize,
    /// The matrix.
    pub rows: Vec<Row>,
    /// What the logs are worth.
    pub logs: LogFindings,
    /// How far the file system's own check came, in every cell.
    pub stages: Vec<CellStages>,
    /// Their names, in order.
    pub stage_names: Vec<String>,
    /// What to know before the figures are believed.
    pub warnings: Vec<String>,
    /// What became of every cell.
    pub cells: Vec<CellResult>,
}

/// A run, as it lies on disk.
#[derive(Debug)]
pub struct Run {
    /// Where.
    pub folder: PathBuf,
    /// The campaign, as it was when the run began.
    pub config: Config,
    /// The cells that are over.
    pub cells: Vec<CellResult>,
    /// Results that are not whole.
    pub broken: Vec<String>,
    /// All that were planned.
    pub planned: usize,
    fingerprint: serde_json::Value,
}

impl Run {
    /// Reads the folder of a run.
    pub fn read(folder: &Path) -> Result<Run, LabError> {
        let path = folder.join("campaign.toml");
        if !path.is_file() {
            return Err(LabError::Input(format!(
                "{}: is no run of a campaign: `laggard campaign run` makes one",
                folder.display()
            )));
        }
        let mut config = Config::read(&path)?;
        let path = folder.join("schedule.json");
        let text = std::fs::read_to_string(&path).map_err(LabError::at(&path))?;
        let schedule: Schedule = serde_json::from_str(&text)
            .map_err(|error| LabError::Input(format!("{}: {error}", path.display())))?;
        config.seed = schedule.seed;
        let (mut cells, mut broken) = (vec![], vec![]);
        for cell in &schedule.cells {
            match run::read_result(&run::cell_folder(folder, cell)) {
                Ok(result) => cells.extend(result),
                Err(error) => broken.push(error.to_string()),
            }
        }
        let fingerprint = std::fs::read_to_string(folder.join("fingerprint.json")).unwrap_or_default();
        Ok(Run {
            folder: folder.to_owned(),
            cells,
            broken,
            planned: schedule.cells.len(),
            config,
            fingerprint: serde_json::from_str(&fingerprint).unwrap_or_default(),
        })
    }
}

impl Report {
    /// The report of a run.
    pub fn of(run: &Run) -> Result<Report, LabError> {
        let logs = LogFindings::of(run)?;
        let rows = rows::of(&run.config, &run.cells, &logs);
        let mut versions: Vec<String> = run.cells.iter().map(|cell| cell.versions.clone()).collect();
        versions.sort();
        versions.dedup();
        Ok(Report {
            schema: "laggard.campaign/1",
            campaign: run.config.name.clone(),
            seed: run.config.seed,
            adapter: run.config.adapter.name.clone(),
            versions,
            kernel: run.fingerprint["kernel"].as_str().unwrap_or_default().to_owned(),
            planned: run.planned,
            played: run.cells.len(),
            warnings: warnings(run),
            rows,
            logs,
            stages: stages::of(run)?,
            stage_names: run
                .config
                .adapter
                .fsck
                .iter()
                .flat_map(|fsck| &fsck.stages)
                .map(|stage| stage.name.clone())
                .collect(),
            cells: run.cells.clone(),
        })
    }

    /// In a sentence, what was found.
    pub fn headline(&self) -> String {
        let silent = self.rows.iter().map(|row| row.silent).sum::<usize>();
        let judged =
            self.cells.iter().filter(|cell| cell.infra.is_none() && cell.cell.fault.is_some()).count();
        let intact = self
            .cells
            .iter()
            .filter(|cell| cell.infra.is_none() && cell.cell.fault.is_some() && cell.is_intact());
        let intact = intact.count();
        format!(
            "{}: {intact} of {judged} faults did no harm that a client saw; {silent} did, while the file system's own check \
             said that all is fine",
            self.campaign
        )
    }
}

fn warnings(run: &Run) -> Vec<String> {
    let mut warnings = run.broken.clone();
    if run.cells.len() < run.planned {
        warnings.push(format!(
            "{} of {} cells are over: `laggard campaign run --resume` plays the rest",
            run.cells.len(),
            run.planned
        ));
    }
    let warm = run.config.warm_checks().join(", ");
    if !warm.is_empty() {
        warnings.push(run::warm_warning(&warm));
    }
    let controls: Vec<&CellResult> = run.cells.iter().filter(|cell| cell.cell.fault.is_none()).collect();
    if controls.is_empty() {
        warnings.push("no control was played: nothing tells what the steps alone do".into());
    }
    let wrong =
        controls.iter().filter(|cell| cell.infra.is_some() || !cell.is_intact() || !cell.is_called_fine());
    for cell in wrong {
        warnings
            .push(format!("{}: the control is not well, so no other cell can be trusted", cell.cell.name()));
    }
    for cell in run.cells.iter().filter(|cell| !cell.dirty.is_empty()) {
        warnings.push(format!("{} left something behind: {}", cell.cell.name(), cell.dirty.join("; ")));
    }
    for cell in run.cells.iter().filter(|cell| cell.infra.is_some()) {
        let why = cell.infra.as_deref().unwrap_or_default();
        warnings.push(format!("{}: nothing can be said: {why}", cell.cell.name()));
    }
    warnings
}
