//! The report of a campaign.
//! In: the folder of a run. Out: a [`Report`], and its [`Table`]s for text, Markdown and HTML. Always: every number is
//! counted from finished cases; a case without a usable result never counts as healthy.

mod diff;
mod html;
mod logs;
mod markdown;
mod report_tables;
mod rows;
mod stages;

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::campaign_schedule::Schedule;
use super::config::Config;
use super::run;
use crate::machine::LabError;
use crate::runner::result::CaseResult;

pub use diff::{Difference, diff, table as diff_table};
pub use html::page;
pub use logs::LogFindings;
pub use markdown::markdown;
pub use report_tables::{Table, TableField, tables};
pub use rows::{Counted, Row};
pub use stages::CaseStages;

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub schema: &'static str,
    pub campaign: String,
    pub seed: u64,
    pub adapter: String,
    /// Of the file system.
    pub versions: Vec<String>,
    pub kernel: String,
    pub planned: usize,
    pub finished: usize,
    pub rows: Vec<Row>,
    pub logs: LogFindings,
    /// The stages that fsck reached in every case.
    pub stages: Vec<CaseStages>,
    /// In order.
    pub stage_names: Vec<String>,
    pub warnings: Vec<String>,
    pub cases: Vec<CaseResult>,
}

/// A run on disk.
#[derive(Debug)]
pub struct Run {
    pub folder: PathBuf,
    /// As it was when the run began.
    pub config: Config,
    /// Finished cases.
    pub cases: Vec<CaseResult>,
    /// Why results could not be read.
    pub broken: Vec<String>,
    pub planned: usize,
    fingerprint: serde_json::Value,
}

impl Run {
    pub fn read(folder: &Path) -> Result<Run, LabError> {
        let path = folder.join("campaign.toml");
        if !path.is_file() {
            return Err(LabError::Input(format!(
                "{}: is not the run of a campaign: `laggard campaign run` creates one",
                folder.display()
            )));
        }
        let mut config = Config::read(&path)?;
        let path = folder.join("schedule.json");
        let text = std::fs::read_to_string(&path).map_err(LabError::at(&path))?;
        let schedule: Schedule = serde_json::from_str(&text)
            .map_err(|error| LabError::Input(format!("{}: {error}", path.display())))?;
        config = config.with_seed(schedule.origin.seed);
        let (mut cases, mut broken) = (vec![], vec![]);
        for case in &schedule.cases {
            match run::read_result(&run::case_folder(folder, case)) {
                Ok(result) => cases.extend(result),
                Err(error) => broken.push(error.to_string()),
            }
        }
        let fingerprint = std::fs::read_to_string(folder.join("fingerprint.json")).unwrap_or_default();
        Ok(Run {
            folder: folder.to_owned(),
            cases,
            broken,
            planned: schedule.cases.len(),
            config,
            fingerprint: serde_json::from_str(&fingerprint).unwrap_or_default(),
        })
    }
}

impl Report {
    pub fn of(run: &Run) -> Result<Report, LabError> {
        let logs = LogFindings::of(run)?;
        let rows = rows::of(&run.config, &run.cases, &logs);
        let mut versions: Vec<String> = run.cases.iter().map(|case| case.versions.clone()).collect();
        versions.sort();
        versions.dedup();
        Ok(Report {
            schema: "laggard.campaign/1",
            campaign: run.config.name.clone(),
            seed: run.config.seed,
            adapter: run.config.steps.adapter.name.clone(),
            versions,
            kernel: run.fingerprint["kernel"].as_str().unwrap_or_default().to_owned(),
            planned: run.planned,
            finished: run.cases.len(),
            warnings: warnings(run),
            rows,
            logs,
            stages: stages::of(run)?,
            stage_names: run
                .config
                .steps
                .adapter
                .fsck
                .iter()
                .flat_map(|fsck| &fsck.stages)
                .map(|stage| stage.name.clone())
                .collect(),
            cases: run.cases.clone(),
        })
    }

    /// The main result in a sentence.
    pub fn headline(&self) -> String {
        let silent = self.rows.iter().map(|row| row.silent).sum::<usize>();
        let valid =
            self.cases.iter().filter(|case| case.infra.is_none() && case.case.fault.is_some()).count();
        let intact = self
            .cases
            .iter()
            .filter(|case| case.infra.is_none() && case.case.fault.is_some() && case.is_intact());
        let intact = intact.count();
        format!(
            "{}: no client saw damage in {intact} of {valid} cases with a fault; {silent} had damage that fsck did not report",
            self.campaign
        )
    }
}

fn warnings(run: &Run) -> Vec<String> {
    let mut warnings = run.broken.clone();
    if run.cases.len() < run.planned {
        warnings.push(format!(
            "{} of {} cases are finished: `laggard campaign run --resume` runs the rest",
            run.cases.len(),
            run.planned
        ));
    }
    warnings.extend(run.config.warm_warning());
    let controls: Vec<&CaseResult> = run.cases.iter().filter(|case| case.case.fault.is_none()).collect();
    if controls.is_empty() {
        warnings.push("no control case was run: the effect of the steps alone is not measured".into());
    }
    let wrong =
        controls.iter().filter(|case| case.infra.is_some() || !case.is_intact() || !case.is_called_fine());
    for case in wrong {
        warnings.push(format!(
            "{}: the control case is not healthy: no other case can be trusted",
            case.case.name()
        ));
    }
    for case in run.cases.iter().filter(|case| !case.dirty.is_empty()) {
        warnings.push(format!("{} left something behind: {}", case.case.name(), case.dirty.join("; ")));
    }
    for case in run.cases.iter().filter(|case| case.infra.is_some()) {
        let why = case.infra.as_deref().unwrap_or_default();
        warnings.push(format!("{}: no usable result: {why}", case.case.name()));
    }
    warnings
}
