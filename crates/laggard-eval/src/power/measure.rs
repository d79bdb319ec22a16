//! The measurement, from a recording to its detection limits.

use laggard_core::diagnosis::detection_limit::DetectionLimit;
use laggard_core::methods::Method;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::pipeline::{NoObserver, PipelineError, TooPoor, diagnose};
use laggard_core::recording::Recording;
use laggard_core::report::{Report, limit_texts};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use super::candidates::{Baseline, CandidateGroup, groups};
use super::cases::{Cases, magnitudes};
use super::limits::{CellTrials, GroupPower, Power, detection_times};
use super::memory_recording::{KeepingRecording, MemoryRecording};
use super::plan::Plan;
use super::trials::{DiskTrials, TrialResult};
use super::used_groups::UsedGroups;
use crate::overlay::Pattern;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerSettings {
    /// Trials of each pattern and duration, on different disks and at different times.
    pub trials: usize,
    pub seed: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum PowerError {
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    #[error("no evaluated peer group has a disk with requests that is not a suspect already")]
    NoDisk,
}

/// Called with the number of trials after each of them.
pub type Progress<'a> = dyn Fn(usize) + Sync + 'a;

/// Measures the detection limits of a recording, for each of its peer groups.
pub fn measure(
    recording: &mut dyn Recording,
    method: &dyn Method,
    PowerSettings { trials, seed }: PowerSettings,
    progress: &Progress<'_>,
) -> Result<Power, PowerError> {
    let plan = Plan { trials, seed, cases: Cases::ALL, is_pooled: false };
    measure_plan(recording, method, plan, progress)
}

pub(super) fn measure_plan(
    recording: &mut dyn Recording,
    method: &dyn Method,
    plan: Plan,
    progress: &Progress<'_>,
) -> Result<Power, PowerError> {
    let (baseline, memory) = baseline(recording, method, plan)?;
    let groups = || baseline.groups.iter().enumerate();
    let trials: Vec<DiskTrials> =
        groups().flat_map(|(number, group)| group.trials(number, &baseline, plan)).collect();
    if trials.is_empty() {
        return Err(PowerError::NoDisk);
    }
    let count = trials.iter().map(|trials| trials.times.len() * plan.cases.patterns.len()).sum();
    let results = match &memory {
        Some(memory) => in_parallel(&trials, memory, method, plan.cases, &|| progress(count))?,
        None => one_by_one(&trials, recording, method, plan.cases, &|| progress(count))?,
    };
    let limits =
        groups().map(|(number, group)| group_power(number, group, plan.cases, &baseline.durations, &results));
    let Baseline { report, from, to, .. } = &baseline;
    Ok(Power::new(&report.method, *from, *to, limits.collect()))
}

/// The diagnosis without a slowdown, and the recording in memory if it fits.
pub(super) fn baseline(
    recording: &mut dyn Recording,
    method: &dyn Method,
    plan: Plan,
) -> Result<(Baseline, Option<MemoryRecording>), PipelineError> {
    let step = recording.times().longest_interval;
    let mut keeping = KeepingRecording::new(recording);
    let mut used = UsedGroups { observer: &mut NoObserver, inventory: None };
    let report = diagnose(&mut keeping, method, &mut used)?;
    let (from, to) = evaluated_time(&report)?;
    let inventory = used.inventory.as_ref().unwrap_or(keeping.inventory());
    let groups = groups(inventory, &report, &keeping.active_disks, plan.is_pooled);
    let (memory, active_disks) = keeping.into_memory();
    let durations = plan.cases.durations(to - from);
    Ok((Baseline { report, groups, active_disks, from, to, step, durations }, memory))
}

fn evaluated_time(report: &Report) -> Result<(Timestamp, Timestamp), PipelineError> {
    let time = report.from.zip(report.to).filter(|_| report.members(true) > 0);
    time.ok_or_else(|| TooPoor::NoWindow.into())
}

fn in_parallel(
    trials: &[DiskTrials],
    memory: &MemoryRecording,
    method: &dyn Method,
    cases: Cases,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<TrialResult>, PipelineError> {
    let run = |trials: &DiskTrials| {
        let mut recording = memory;
        trials.run(&mut recording, method, cases.patterns, progress)
    };
    let results: Result<Vec<_>, _> = trials.par_iter().map(run).collect();
    Ok(results?.into_iter().flatten().collect())
}

/// Reads the recording again for each diagnosis.
fn one_by_one(
    trials: &[DiskTrials],
    recording: &mut dyn Recording,
    method: &dyn Method,
    cases: Cases,
    progress: &dyn Fn(),
) -> Result<Vec<TrialResult>, PipelineError> {
    let mut results = Vec::new();
    for trials in trials {
        results.extend(trials.run(recording, method, cases.patterns, progress)?);
    }
    Ok(results)
}

fn group_power(
    number: usize,
    group: &CandidateGroup,
    cases: Cases,
    durations: &[Span],
    results: &[TrialResult],
) -> GroupPower {
    let of_case = |pattern: Pattern, duration: usize| {
        let is_its = |result: &&TrialResult| {
            (result.group, result.pattern, result.duration) == (number, pattern, duration)
        };
        CellTrials {
            pattern,
            duration: durations[duration],
            is_whole: duration + 1 == durations.len(),
            magnitudes: magnitudes(pattern),
            smallest: results.iter().filter(is_its).map(|result| result.smallest).collect(),
            disks: group.members,
        }
    };
    let cells: Vec<CellTrials> = cases
        .patterns
        .iter()
        .flat_map(|&pattern| (0..durations.len()).map(move |duration| (pattern, duration)))
        .map(|(pattern, duration)| of_case(pattern, duration))
        .collect();
    let limits: Vec<DetectionLimit> = cells.iter().map(CellTrials::limit).collect();
    GroupPower {
        name: group.name.clone(),
        peer_groups: group.peer_groups,
        members: group.members,
        candidates: group.disks.len(),
        summary: limit_texts::sentences(&limits).join(" "),
        detection_times: detection_times(&limits, magnitudes),
        cells: cells.iter().flat_map(CellTrials::cells).collect(),
        limits,
    }
}
