//! The times that a recording covers: its length, its gaps, and hosts whose clocks are wrong.
//! In: the time that each file covers, then the tables read from them. Out: covered times, gaps, shifted hosts.
//! Always: everything is limited to the time that is diagnosed.

use std::collections::BTreeMap;

use super::Table;
use super::clocks::{Apart, Presence, apart};
use super::covered_times::{CoveredTime, joined};
use super::grid::Grid;
use crate::model::component::Kind;
use crate::model::time::{Span, Timestamp};

/// The times that the files of a recording cover.
#[derive(Clone, Debug)]
pub struct RecordedTimes {
    pub files: Vec<FileTime>,
    /// The shortest and the longest interval between samples.
    pub shortest_interval: Span,
    pub longest_interval: Span,
    /// The time that is diagnosed.
    pub from: Timestamp,
    pub to: Timestamp,
}

/// The time that one file covers.
#[derive(Clone, Debug)]
pub struct FileTime {
    pub host: String,
    pub kind: Kind,
    pub covered: CoveredTime,
}

/// A time without two samples to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no two samples are {step} apart within that time: the recording has samples from {first} to {last}")]
pub struct NoSamples {
    pub step: Span,
    pub first: Timestamp,
    pub last: Timestamp,
}

impl RecordedTimes {
    /// The length of the recording without its gaps.
    pub fn length(&self) -> Result<Span, NoSamples> {
        let step = self.longest_interval;
        let instants: usize = self.grids(step).iter().map(|grid| grid.len).sum();
        if instants == 0 { Err(self.no_samples(step)) } else { Ok(step * instants as i64) }
    }

    /// The first and the last instant on a grid of `step`.
    pub fn ends(&self, step: Span) -> Result<(Timestamp, Timestamp), NoSamples> {
        let grids = self.grids(step);
        let ends = grids.first().zip(grids.last()).map(|(first, last)| (first.start - step, last.end()));
        ends.ok_or_else(|| self.no_samples(step))
    }

    fn no_samples(&self, step: Span) -> NoSamples {
        let covered = || self.files.iter().map(|file| file.covered);
        let first = covered().map(|covered| covered.first).min().unwrap_or(Timestamp::MAX);
        let last = covered().map(|covered| covered.last).max().unwrap_or(Timestamp::MIN);
        NoSamples { step, first, last }
    }

    /// The number of times at which no file continues.
    pub fn gaps_between_files(&self) -> usize {
        self.grids(self.longest_interval).len().saturating_sub(1)
    }

    fn grids(&self, step: Span) -> Vec<Grid> {
        let covered = joined(self.files.iter().map(|file| file.covered), step);
        covered.iter().filter_map(|covered| self.grid(*covered, step)).collect()
    }

    /// The instants of a covered time whose steps are within the diagnosed time.
    pub fn grid(&self, covered: CoveredTime, step: Span) -> Option<Grid> {
        covered.grid(self.from + step, self.to, step)
    }

    /// Hosts whose clocks may be wrong.
    pub fn shifted_hosts(&self) -> Vec<Apart<'_>> {
        let mut hosts: BTreeMap<&str, Presence> = BTreeMap::new();
        for FileTime { host, covered, .. } in &self.files {
            let (first, last) = (covered.first.max(self.from), covered.last.min(self.to));
            if first <= last {
                let known = hosts.entry(host).or_insert(Presence { host, first, last });
                (known.first, known.last) = (known.first.min(first), known.last.max(last));
            }
        }
        apart(&hosts.into_values().collect::<Vec<_>>(), self.longest_interval)
    }

    /// True if components of a kind have samples of their own. Servers may be known only by what they contain.
    pub fn has_samples_of(&self, kind: &Kind) -> bool {
        *kind != Kind::SERVER || self.files.iter().any(|file| file.kind == Kind::SERVER)
    }
}

/// Counts the times in which no component has a sample although files go on: files only say when they begin and end.
#[derive(Debug, Default)]
pub struct GapCounter {
    instants: usize,
    gaps: usize,
}

/// This many instants without samples are not yet a gap.
const TOLERATED: usize = 3;

impl GapCounter {
    /// Takes the next portion of all tables.
    pub fn take(&mut self, tables: &[Table]) {
        let mut missing = vec![true; tables.first().map_or(0, |table| table.grid.len)];
        for row in tables.iter().flat_map(|table| (0..table.components.len()).map(|row| table.row(row))) {
            missing.iter_mut().zip(row).for_each(|(missing, value)| *missing &= value.is_nan());
            if missing.iter().all(|missing| !missing) {
                break;
            }
        }
        for missing in missing {
            self.instants = if missing { self.instants + 1 } else { 0 };
            self.gaps += usize::from(self.instants == TOLERATED + 1);
        }
    }

    pub fn gaps(&self) -> usize {
        self.gaps
    }
}
