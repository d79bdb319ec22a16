//! Trials on one disk: the smallest magnitude that a diagnosis reports, for each pattern and duration.
//! In: a disk, and times within each other. Out: [`TrialResult`]s. Always: a diagnosis that cannot find anything is not
//! run.

use laggard_core::diagnosis::Suspect;
use laggard_core::methods::Method;
use laggard_core::model::cluster::Component;
use laggard_core::model::component::Container;
use laggard_core::model::time::Timestamp;
use laggard_core::pipeline::{NoObserver, PipelineError, diagnose};
use laggard_core::recording::Recording;
use laggard_core::report::Report;

use super::cases::magnitudes;
use crate::overlay::{Pattern, Slowdown, SlowedRecording};

/// The times at which a disk is slowed down, the longest first. Each is within the one before.
pub(super) struct DiskTrials {
    pub(super) group: usize,
    pub(super) disk: Component,
    pub(super) times: Vec<TrialTime>,
}

#[derive(Clone, Copy)]
pub(super) struct TrialTime {
    /// The number of the duration.
    pub(super) duration: usize,
    pub(super) begin: Timestamp,
    pub(super) end: Timestamp,
}

pub(super) struct TrialResult {
    pub(super) group: usize,
    pub(super) pattern: Pattern,
    /// The number of the duration.
    pub(super) duration: usize,
    /// The number of the smallest magnitude that is found; the number of magnitudes if none is.
    pub(super) smallest: usize,
}

impl DiskTrials {
    /// Runs all trials; calls `progress` after each.
    pub(super) fn run(
        &self,
        recording: &mut dyn Recording,
        method: &dyn Method,
        patterns: &[Pattern],
        progress: &dyn Fn(),
    ) -> Result<Vec<TrialResult>, PipelineError> {
        let mut results: Vec<TrialResult> = Vec::new();
        for &pattern in patterns {
            let mut longer = 0;
            for time in &self.times {
                let is_its = |result: &&TrialResult| result.duration == time.duration;
                // A ramp is nowhere slower than a constant slowdown.
                let constant = results.iter().filter(|_| pattern == Pattern::Ramp).find(is_its);
                let least = constant.map_or(0, |constant| constant.smallest).max(longer);
                let smallest = self.smallest_found(recording, method, (pattern, *time), least)?;
                // A slowdown that is not found is not found either if it ends earlier.
                longer = smallest;
                results.push(TrialResult { group: self.group, pattern, duration: time.duration, smallest });
                progress();
            }
        }
        Ok(results)
    }

    /// The number of the smallest magnitude that is found, from `least` on. Larger magnitudes are found as well, so halving
    /// the range finds it. Most often it is `least`.
    fn smallest_found(
        &self,
        recording: &mut dyn Recording,
        method: &dyn Method,
        (pattern, time): (Pattern, TrialTime),
        least: usize,
    ) -> Result<usize, PipelineError> {
        let magnitudes = magnitudes(pattern);
        let (mut low, mut high, mut next) = (least, magnitudes.len(), least);
        while low < high {
            match self.is_found(recording, method, (pattern, time), magnitudes[next])? {
                true => high = next,
                false => low = next + 1,
            }
            next = low.midpoint(high);
        }
        Ok(low)
    }

    fn is_found(
        &self,
        recording: &mut dyn Recording,
        method: &dyn Method,
        (pattern, TrialTime { begin, end, .. }): (Pattern, TrialTime),
        magnitude: f64,
    ) -> Result<bool, PipelineError> {
        let step = recording.times().longest_interval;
        let slowdown = Slowdown { pattern, magnitude, begin, end };
        let mut slowed = SlowedRecording { inner: recording, component: &self.disk.recorded, slowdown };
        let report = diagnose(&mut slowed, method, &mut NoObserver)?;
        Ok(names(&report, &self.disk, begin - step, end + step))
    }
}

/// True if a report names a component, or a component that contains it, between two times.
pub(super) fn names(report: &Report, component: &Component, begin: Timestamp, end: Timestamp) -> bool {
    let overlaps = |suspect: &Suspect| suspect.since <= end && suspect.until >= begin;
    let mut incidents = report.suspects.iter().flat_map(Suspect::incidents);
    incidents.any(|suspect| overlaps(&suspect) && is_about(&suspect, component))
}

fn is_about(suspect: &Suspect, component: &Component) -> bool {
    let name = &suspect.component.name;
    *name == component.name
        || Container::ALL.into_iter().any(|container| component.container(container) == Some(name))
}
