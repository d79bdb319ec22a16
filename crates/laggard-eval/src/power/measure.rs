//! The measurement, from a recording to its detection limits.

use laggard_core::methods::Method;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::pipeline::{NoObserver, PipelineError, TooPoor, diagnose};
use laggard_core::recording::Recording;
use laggard_core::report::Report;
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use super::candidates::{Baseline, CandidateGroup, groups};
use super::cases::{durations, magnitudes};
use super::limits::{CellTrials, GroupPower, Power, detection_times};
use super::memory_recording::{KeepingRecording, MemoryRecording};
use super::sentence::summary;
use super::trials::{DiskTrials, TrialResult};
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

/// Measures the detection limits of a recording.
pub fn measure(
    recording: &mut dyn Recording,
    method: &dyn Method,
    settings: PowerSettings,
    progress: &Progress<'_>,
) -> Result<Power, PowerError> {
    let mut keeping = KeepingRecording::new(recording);
    let report = diagnose(&mut keeping, method, &mut NoObserver)?;
    let groups = groups(keeping.inventory(), &report, &keeping.active_disks);
    let (memory, active_disks) = keeping.into_memory();
    let (from, to) = evaluated_time(&report)?;
    let step = recording.times().longest_interval;
    let baseline = Baseline { report: &report, active_disks: &active_disks, from, to, step };
    let trials = groups.iter().enumerate();
    let trials: Vec<DiskTrials> = trials
        .flat_map(|(number, group)| group.trials(number, &baseline, settings.trials, settings.seed))
        .collect();
    if trials.is_empty() {
        return Err(PowerError::NoDisk);
    }
    let count = trials.iter().map(|trials| trials.times.len() * Pattern::ALL.len()).sum();
    let results = match &memory {
        Some(memory) => in_parallel(&trials, memory, method, &|| progress(count))?,
        None => one_by_one(&trials, recording, method, &|| progress(count))?,
    };
    let groups = groups.iter().enumerate();
    let groups = groups.map(|(number, group)| group_power(number, group, to - from, &results));
    Ok(Power::new(&report.method, from, to, groups.collect()))
}

fn evaluated_time(report: &Report) -> Result<(Timestamp, Timestamp), PipelineError> {
    let time = report.from.zip(report.to).filter(|_| report.members(true) > 0);
    time.ok_or_else(|| TooPoor::NoWindow.into())
}

fn in_parallel(
    trials: &[DiskTrials],
    memory: &MemoryRecording,
    method: &dyn Method,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<TrialResult>, PipelineError> {
    let run = |trials: &DiskTrials| {
        let mut recording = memory;
        trials.run(&mut recording, method, progress)
    };
    let results: Result<Vec<_>, _> = trials.par_iter().map(run).collect();
    Ok(results?.into_iter().flatten().collect())
}

/// Reads the recording again for each diagnosis.
fn one_by_one(
    trials: &[DiskTrials],
    recording: &mut dyn Recording,
    method: &dyn Method,
    progress: &dyn Fn(),
) -> Result<Vec<TrialResult>, PipelineError> {
    let mut results = Vec::new();
    for trials in trials {
        results.extend(trials.run(recording, method, progress)?);
    }
    Ok(results)
}

fn group_power(number: usize, group: &CandidateGroup, length: Span, results: &[TrialResult]) -> GroupPower {
    let durations = durations(length);
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
        }
    };
    let cases: Vec<CellTrials> = Pattern::ALL
        .into_iter()
        .flat_map(|pattern| (0..durations.len()).map(move |duration| (pattern, duration)))
        .map(|(pattern, duration)| of_case(pattern, duration))
        .collect();
    let limits: Vec<_> = cases.iter().map(CellTrials::limit).collect();
    let most = magnitudes(Pattern::Constant).last().copied().unwrap_or(1.0);
    GroupPower {
        name: group.name.clone(),
        peer_groups: group.peer_groups,
        members: group.members,
        candidates: group.disks.len(),
        summary: summary(&limits, most),
        detection_times: detection_times(&limits, magnitudes),
        cells: cases.iter().flat_map(CellTrials::cells).collect(),
        limits,
    }
}
