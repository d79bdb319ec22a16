//! A segment: one file of a dataset, and what can be asked of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;

use crate::error::StoreError;
use crate::format::file_name::{FileName, State};
use crate::format::origin::Origin;
use crate::location::{Location, Source};
use crate::reading::piece::Piece;
use crate::reading::selection::{Selection, Wanted};
use crate::reading::{live_tail, sealed};

/// One file of a dataset: samples of one host and table, of a day at most.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The host.
    pub host: String,
    /// The table.
    pub table: &'static Schema,
    /// When its first sample was taken, to the second.
    pub start: Timestamp,
    /// Whether it still grew when it was listed.
    pub state: State,
    /// Its size when it was listed.
    pub bytes: u64,
    pub(crate) location: Location,
}

/// What a segment holds, in short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many rows there are.
    pub rows: u64,
    /// The earliest sample.
    pub first: Option<Timestamp>,
    /// The latest sample.
    pub last: Option<Timestamp>,
    /// The components, by name, with the number of their rows.
    pub components: BTreeMap<Arc<str>, u64>,
}

impl Segment {
    /// The name of its file.
    pub fn name(&self) -> FileName {
        let (host, table) = (self.host.clone(), self.table.name.into());
        FileName { host, table, start: self.start, state: self.state }
    }

    /// Where its file lies, as a person would write it.
    pub fn path(&self) -> PathBuf {
        self.location.path(&self.name().to_string())
    }

    /// Who took the samples, as the file says.
    pub fn origin(&self) -> Result<Origin, StoreError> {
        self.with_source(|state, source| match state {
            State::Sealed => sealed::origin(self, source),
            State::Live => live_tail::origin(self, source),
        })
    }

    /// Its earliest and latest sample; nothing if it has none. Costs little for a sealed file.
    pub fn times(&self) -> Result<Option<(Timestamp, Timestamp)>, StoreError> {
        let known = self.with_source(|state, source| match state {
            State::Sealed => sealed::times(self, source),
            State::Live => Ok(None),
        })?;
        match known {
            Some(times) => Ok(Some(times)),
            None => self.summary().map(|summary| summary.first.zip(summary.last)),
        }
    }

    /// The components it has rows of. Costs little for a sealed file.
    pub fn components(&self) -> Result<BTreeSet<Arc<str>>, StoreError> {
        let known = self.with_source(|state, source| match state {
            State::Sealed => sealed::components(self, source).map(Some),
            State::Live => Ok(None),
        })?;
        match known {
            Some(components) => Ok(components),
            None => self.summary().map(|summary| summary.components.into_keys().collect()),
        }
    }

    /// What it holds, in short. Only times and components are read.
    pub fn summary(&self) -> Result<Summary, StoreError> {
        let mut summary = Summary::default();
        let wanted = Wanted { table: self.table, columns: Some(Vec::new()) };
        let nothing_but_keys = Selection { tables: vec![wanted], ..Selection::default() };
        let add = &mut |_: &Segment, piece: Piece| {
            summary.add(&piece);
            ControlFlow::Continue(())
        };
        self.scan(&nothing_but_keys, add).map(|_| summary)
    }

    /// Hands out the selected rows, piece by piece, until there are none left or `visit` breaks off.
    pub fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let Some(wanted) = selection.wanted(self) else { return Ok(ControlFlow::Continue(())) };
        self.with_source(|state, source| match state {
            State::Sealed => sealed::scan(self, source, &wanted, visit),
            State::Live => live_tail::scan(self, source, &wanted, visit),
        })
    }

    /// Opens the file, as whatever it is by now: a tail may have been sealed since it was listed.
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

/// What a scan calls for every piece.
pub type Visit<'a> = dyn FnMut(&Segment, Piece) -> ControlFlow<()> + 'a;

impl Summary {
    /// Adds what another segment, or a piece of one, holds.
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
