//! Labels the recording of a case: `cluster.toml`, `labels.csv` and `experiment.toml`, which is written last.

use std::path::Path;

use laggard_core::diagnosis::label::{self, Label};
use laggard_core::model::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::files::now_ns;
use super::run::CaseRun;
use super::{cluster, workers};
use crate::lab_file::contents::LabFile;
use crate::machine::LabError;

/// Steps and times of an experiment: `experiment.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentFile {
    pub workload: String,
    /// `none` without a fault.
    pub fault: String,
    /// The server with the fault.
    pub server: String,
    pub seed: u64,
    /// The sampling interval. The paper's experiments have a sample a second and last ten minutes; those with shorter
    /// parts and more samples in a second run faster.
    pub every: Span,
    /// When recording began.
    pub begin: Timestamp,
    /// When the fault was applied and verified.
    pub applied: Timestamp,
    /// When its revert began.
    pub reverted: Timestamp,
    pub end: Timestamp,
    /// Passes of the workload that all clients finished in a minute: before the fault, with it, and after it.
    pub passes_per_minute: [f64; 3],
    pub lab: LabFile,
}

const FILE: &str = "experiment.toml";

impl ExperimentFile {
    pub fn read(folder: &Path) -> Result<ExperimentFile, LabError> {
        let path = folder.join(FILE);
        let text = std::fs::read_to_string(&path).map_err(LabError::at(&path))?;
        toml::from_str(&text).map_err(|error| LabError::Input(format!("{}: {error}", path.display())))
    }

    /// True if the dataset in a folder is complete.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(FILE).is_file()
    }
}

impl CaseRun<'_> {
    /// Ends the recording and labels it. An interrupted case gets no labels.
    pub(super) fn label(&mut self) -> Result<(), LabError> {
        let (Some(recording), Some(load)) = (self.recording.take(), &self.plan.steps.load) else {
            return Ok(());
        };
        let times =
            [recording.begin_ns, self.applied_ns, self.result.revert_ns.unwrap_or_default(), now_ns()];
        let [begin, applied, reverted, end] = times.map(timestamp);
        let (lab, folder) = (recording.lab.clone(), recording.folder.clone());
        recording.end()?;
        if self.is_over() {
            return Ok(());
        }
        let passes = workers::passes(&lab);
        let rate = |from: Timestamp, to: Timestamp| {
            let (from, to) = (seconds(from), seconds(to));
            let inside = passes.iter().filter(|at| **at >= from && **at < to).count();
            (inside as f64 * 60.0 / (to - from).max(0.001) * 10.0).round() / 10.0
        };
        let case = self.plan.case;
        let experiment = ExperimentFile {
            workload: load.workload.clone(),
            fault: case.fault.clone().unwrap_or_else(|| "none".into()),
            server: case.faulted.first().cloned().unwrap_or_default(),
            seed: case.seed,
            every: load.every,
            begin,
            applied,
            reverted,
            end,
            passes_per_minute: [rate(begin, applied), rate(applied, reverted), rate(reverted, end)],
            lab: lab.manifest.lab.clone(),
        };
        let text = toml::to_string(&experiment).map_err(|error| LabError::Input(error.to_string()))?;
        let files = [
            ("cluster.toml", cluster::file(&lab)?.to_toml()),
            ("labels.csv", label::csv(&self.labels(applied, reverted))),
            (FILE, text),
        ];
        files.into_iter().try_for_each(|(name, text)| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(LabError::at(&path))
        })
    }

    fn labels(&self, begin: Timestamp, end: Timestamp) -> Vec<Label> {
        let Some(plan) = self.plan.fault else { return vec![] };
        let cause = plan.fault.cause();
        let label = |server: &String| Label { component: server.clone(), begin, end, cause };
        self.plan.case.faulted.iter().map(label).collect()
    }
}

fn timestamp(ns: u64) -> Timestamp {
    Timestamp::from_micros(i64::try_from(ns / 1000).unwrap_or(i64::MAX))
}

fn seconds(time: Timestamp) -> f64 {
    time.micros() as f64 * 1e-6
}
