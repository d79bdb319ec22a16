//! A segment: one file of a dataset.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;

use crate::error::StoreError;
use crate::format::file_name::{FileName, State};
use crate::format::origin::Origin;
use crate::live_tail::reader as live;
use crate::location::{Location, Source};
use crate::reading::piece::Piece;
use crate::reading::selection::{Selection, WantedRows};
use crate::sealed::reader::{ROWS_PER_PIECE, SealedFile};

/// One file of a dataset: samples of one host and table, of a day at most.
#[derive(Clone, Debug)]
pub struct Segment {
    pub host: String,
    pub table: &'static Schema,
    /// The time of its first sample, to the second.
    pub start: Timestamp,
    /// At the time of listing.
    pub state: State,
    /// Its size at the time of listing.
    pub bytes: u64,
    pub(crate) location: Location,
}

/// The number of rows, their times, and their components.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub rows: u64,
    /// The earliest sample.
    pub first: Option<Timestamp>,
    /// The latest sample.
    pub last: Option<Timestamp>,
    /// The number of rows of each component.
    pub components: BTreeMap<Arc<str>, u64>,
}

/// Properties of a segment that a reader of metrics needs before it reads rows.
pub(crate) struct Overview {
    pub(crate) origin: Origin,
    /// The earliest and latest sample; nothing if there is no row.
    pub(crate) times: Option<(Timestamp, Timestamp)>,
    pub(crate) components: BTreeSet<Arc<str>>,
    /// Times of the first component, if the samples may be off the grid of their interval.
    pub(crate) some_times: Vec<i64>,
}

/// Samples of one component that the interval and phase of a recording are estimated from.
const SAMPLES_FOR_RHYTHM: usize = 1000;

impl Segment {
    /// The name of its file.
    pub fn name(&self) -> FileName {
        let (host, table) = (self.host.clone(), self.table.name.into());
        FileName { host, table, start: self.start, state: self.state }
    }

    /// The place of its file, for messages.
    pub fn path(&self) -> PathBuf {
        self.location.path(&self.name().to_string())
    }

    /// The origin of the samples, as the file states it.
    pub fn origin(&self) -> Result<Origin, StoreError> {
        let path = self.path();
        self.with_source(|state, source| match state {
            State::Sealed => Ok(SealedFile::open(&path, source)?.origin().clone()),
            State::Live => Ok(live::origin(&path, &source)?.unwrap_or_else(|| self.unknown_origin())),
        })
    }

    /// A tail without its first message yet states nothing but its name.
    fn unknown_origin(&self) -> Origin {
        Origin { host: self.host.clone(), every: None, wraps_at_32_bits: false, source: String::new() }
    }

    /// The components that have rows. Costs little for a sealed file.
    pub fn components(&self) -> Result<BTreeSet<Arc<str>>, StoreError> {
        let path = self.path();
        self.with_source(|state, source| match state {
            State::Sealed => SealedFile::open(&path, source)?.components(),
            State::Live => Ok(self.summary()?.components.into_keys().collect()),
        })
    }

    /// Reads the footer of a sealed file once, and next to nothing else; a live tail is read whole.
    pub(crate) fn overview(&self) -> Result<Overview, StoreError> {
        let path = self.path();
        self.with_source(|state, source| match state {
            State::Sealed => self.overview_of(&SealedFile::open(&path, source)?),
            State::Live => self.overview_of_tail(),
        })
    }

    fn overview_of(&self, file: &SealedFile<'_>) -> Result<Overview, StoreError> {
        let (origin, components) = (file.origin().clone(), file.components()?);
        let times = match file.times() {
            Some(times) => Some(times),
            None => self.summary().map(|summary| summary.first.zip(summary.last))?,
        };
        let mut some_times = FirstTimes::default();
        if !origin.states_grid() {
            let keys = WantedRows::keys();
            let _ = file.scan(self.table, &keys, SAMPLES_FOR_RHYTHM, &mut |piece| some_times.add(&piece))?;
        }
        Ok(Overview { origin, times, components, some_times: some_times.times })
    }

    fn overview_of_tail(&self) -> Result<Overview, StoreError> {
        let (mut summary, mut some_times) = (Summary::default(), FirstTimes::default());
        let _ = self.scan(&Selection::keys_of(self.table), &mut |_, piece| {
            summary.add(&piece);
            let _ = some_times.add(&piece);
            ControlFlow::Continue(())
        })?;
        let times = summary.first.zip(summary.last);
        let components = summary.components.into_keys().collect();
        Ok(Overview { origin: self.origin()?, times, components, some_times: some_times.times })
    }

    /// Only times and components are read.
    pub fn summary(&self) -> Result<Summary, StoreError> {
        let mut summary = Summary::default();
        let add = &mut |_: &Segment, piece: Piece| {
            summary.add(&piece);
            ControlFlow::Continue(())
        };
        self.scan(&Selection::keys_of(self.table), add).map(|_| summary)
    }

    /// Hands out the selected rows, piece by piece, until there are none left or `visit` breaks off.
    pub fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let Some(wanted) = selection.wanted(&self.host, self.table, self.start) else {
            return Ok(ControlFlow::Continue(()));
        };
        let (path, visit) = (self.path(), &mut |piece| visit(self, piece));
        self.with_source(|state, source| match state {
            State::Sealed => {
                SealedFile::open(&path, source)?.scan(self.table, &wanted, ROWS_PER_PIECE, visit)
            }
            State::Live => live::scan(&path, self.table, &source, &wanted, visit),
        })
    }

    /// Opens the file in its present state: a tail may have been sealed since it was listed.
    fn with_source<T>(
        &self,
        mut read: impl FnMut(State, Source) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match (self.open(self.state), self.state) {
            (Err(error), State::Live) if error.is_absent() => read(State::Sealed, self.open(State::Sealed)?),
            (source, state) => read(state, source?),
        }
    }

    fn open(&self, state: State) -> Result<Source, StoreError> {
        self.location.open(&self.name().with_state(state).to_string())
    }
}

/// Called for every piece of a scan.
pub type Visit<'a> = dyn FnMut(&Segment, Piece) -> ControlFlow<()> + 'a;

/// The times of the first component of a scan, up to [`SAMPLES_FOR_RHYTHM`].
#[derive(Default)]
struct FirstTimes {
    component: Option<Arc<str>>,
    times: Vec<i64>,
}

impl FirstTimes {
    fn add(&mut self, piece: &Piece) -> ControlFlow<()> {
        for (number, rows) in piece.runs() {
            let name = &piece.names()[number as usize];
            if self.component.get_or_insert_with(|| name.clone()) == name {
                self.times.extend_from_slice(&piece.time()[rows]);
            }
        }
        if self.times.len() < SAMPLES_FOR_RHYTHM {
            return ControlFlow::Continue(());
        }
        self.times.truncate(SAMPLES_FOR_RHYTHM);
        ControlFlow::Break(())
    }
}

impl Summary {
    fn add(&mut self, piece: &Piece) {
        self.rows += piece.len() as u64;
        let first = piece.time().iter().min().map(|&t| Timestamp::from_micros(t));
        let last = piece.time().iter().max().map(|&t| Timestamp::from_micros(t));
        self.first = self.first.into_iter().chain(first).min();
        self.last = self.last.into_iter().chain(last).max();
        let mut counts = vec![0_u64; piece.names().len()];
        piece.runs().for_each(|(component, range)| counts[component as usize] += range.len() as u64);
        for (name, count) in piece.names().iter().zip(counts).filter(|(_, count)| *count > 0) {
            *self.components.entry(name.clone()).or_default() += count;
        }
    }
}
