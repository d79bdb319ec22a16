//! Limits against overlays: copies of the dataset with a slower disk, diagnosed like any dataset.
//! In: a dataset and its detection limits. Out: [`OverlayResult`]s. Always: disks and times are drawn with other random
//! numbers than those of the trials.

use laggard_core::diagnosis::detection_limit::DetectionLimit;
use laggard_core::methods::Method;
use laggard_core::model::cluster::Component;
use laggard_core::model::random::Random;
use laggard_core::pipeline::{NoObserver, diagnose};
use laggard_store::dataset::Dataset;
use laggard_store::dataset_recording::{DatasetRecording, OpenError};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use super::candidates::Baseline;
use super::cases::Cases;
use super::limits::{Cell, GroupPower, OverlayResult, Power};
use super::measure::{PowerSettings, Progress, baseline};
use super::plan::Plan;
use super::trials::TrialTime;
use crate::overlay::{Overlay, OverlayPattern, copy};

/// Identifies the random numbers of this file.
const OF_OVERLAYS: u64 = 178;
/// Disks that are drawn until one has a usable time.
const DRAWS: usize = 20;

/// Opens a dataset as it was opened for the limits.
pub type Open<'a> = dyn Fn(Dataset) -> Result<DatasetRecording, OpenError> + Sync + 'a;

/// Diagnoses `count` overlays: all slowdowns in turn, on disks of all groups in turn.
pub fn check_with_overlays(
    dataset: &Dataset,
    open: &Open<'_>,
    method: &dyn Method,
    (power, PowerSettings { trials, seed }): (&Power, PowerSettings),
    count: usize,
    progress: &Progress<'_>,
) -> anyhow::Result<Vec<OverlayResult>> {
    let plan = Plan { trials, seed, cases: Cases::ALL, is_pooled: false };
    let (baseline, _) = baseline(&mut open(dataset.clone())?, method, plan)?;
    let overlays: Vec<DrawnOverlay> =
        (0..count).filter_map(|number| DrawnOverlay::new(&baseline, power, seed, number)).collect();
    let results = overlays.into_par_iter().map(|drawn| {
        let is_found = drawn.is_found(dataset, open, method, &baseline);
        progress(count);
        is_found.map(|is_found| drawn.result(is_found))
    });
    results.collect()
}

struct DrawnOverlay<'a> {
    group: &'a GroupPower,
    cell: &'a Cell,
    disk: Component,
    time: TrialTime,
    seed: u64,
}

impl<'a> DrawnOverlay<'a> {
    /// Nothing if no disk of the group has a usable time.
    fn new(baseline: &Baseline, power: &'a Power, seed: u64, number: usize) -> Option<DrawnOverlay<'a>> {
        let at = number % power.groups.len();
        let (group, disks) = (&power.groups[at], &baseline.groups[at].disks);
        let tried: Vec<&Cell> = group.cells.iter().filter(|cell| cell.trials > 0).collect();
        let cell = tried[number / power.groups.len() % tried.len()];
        let is_long = |time: &TrialTime| (time.end - time.begin).seconds() == cell.duration_seconds;
        (0..DRAWS).find_map(|draw| {
            let mut random = Random::of(seed, &[OF_OVERLAYS, number as u64, draw as u64]);
            let disk = disks[random.below(disks.len())].clone();
            let time = baseline.times(&disk, &mut random).into_iter().find(is_long)?;
            Some(DrawnOverlay { group, cell, disk, time, seed })
        })
    }

    fn is_found(
        &self,
        dataset: &Dataset,
        open: &Open<'_>,
        method: &dyn Method,
        baseline: &Baseline,
    ) -> anyhow::Result<bool> {
        let TrialTime { begin, end, .. } = self.time;
        let overlay = Overlay {
            pattern: OverlayPattern::Slowdown(self.cell.pattern),
            component: self.disk.name.clone(),
            recorded: self.disk.recorded.clone(),
            magnitude: self.cell.magnitude,
            begin,
            end,
            seed: self.seed,
        };
        let folder = tempfile::tempdir()?;
        copy(dataset, &overlay, folder.path())?;
        let mut recording = open(Dataset::in_folder(folder.path()))?;
        let report = diagnose(&mut recording, method, &mut NoObserver)?;
        Ok(baseline.names(&report, &self.disk, begin, end))
    }

    fn result(self, is_found: bool) -> OverlayResult {
        let cell = self.cell.clone();
        let is_same = |limit: &&DetectionLimit| {
            (limit.pattern, limit.duration_seconds) == (cell.pattern, cell.duration_seconds)
        };
        let limit = self.group.limits.iter().find(is_same).and_then(|limit| limit.magnitude);
        OverlayResult {
            group: self.group.name.clone(),
            component: self.disk.name,
            is_predicted: limit.is_some_and(|limit| limit <= cell.magnitude),
            is_found,
            cell,
        }
    }
}
