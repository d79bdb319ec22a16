//! A dataset: many segments in one folder or prefix.
//! In: a location. Out: its segments, and their rows. Always: a broken file does not hide the others.

pub mod facts;
pub mod notebook;
pub mod retention;
pub mod segment;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use laggard_core::model::schema::Schema;
use object_store::ObjectStore;

use crate::dataset::segment::{Segment, Visit};
use crate::error::{Problem, StoreError};
use crate::format::file_name::{FileName, State};
use crate::location::{Listed, Location};
use crate::reading::selection::Selection;

/// A folder, or a prefix of an object store, of segments.
#[derive(Clone, Debug)]
pub struct Dataset {
    pub(crate) location: Location,
}

/// The segments of a dataset.
#[derive(Debug, Default)]
pub struct Listing {
    /// By host, table and time.
    pub segments: Vec<Segment>,
    /// Files named like segments that are not.
    pub problems: Vec<Problem>,
}

impl Dataset {
    /// Opens a folder (`/var/lib/laggard`, `file:///...`) or a prefix of an object store (`s3://bucket/prefix`;
    /// credentials from the environment).
    pub fn open(location: &str) -> Result<Self, StoreError> {
        Ok(Dataset { location: Location::parse(location)? })
    }

    pub fn in_folder(folder: &Path) -> Self {
        Dataset { location: Location::Folder(folder.into()) }
    }

    /// The folder it is in; nothing if it is in an object store.
    pub fn folder(&self) -> Option<&Path> {
        match &self.location {
            Location::Folder(folder) => Some(folder),
            Location::Remote(_) => None,
        }
    }

    pub fn in_store(store: Arc<dyn ObjectStore>, prefix: &str) -> Result<Self, StoreError> {
        Ok(Dataset { location: Location::remote(store, prefix.into(), prefix)? })
    }

    /// The present segments, by file name only.
    pub fn segments(&self) -> Result<Listing, StoreError> {
        let mut listing = Listing::default();
        let mut found: BTreeMap<FileName, u64> = BTreeMap::new();
        // A tail that is sealed while the folder is being listed may be missed under both names. Its
        // new name was there before the old one went, so a second listing finds it.
        for _ in 0..2 {
            let names = self
                .location
                .list()?
                .into_iter()
                .filter_map(|Listed { name, bytes }| Some((FileName::parse(&name)?, bytes)));
            found.extend(names);
        }
        for (name, bytes) in &found {
            if name.state == State::Live && found.contains_key(&name.with_state(State::Sealed)) {
                continue;
            }
            match self.segment(name, *bytes) {
                Ok(segment) => listing.segments.push(segment),
                Err(error) => listing.problems.push(Problem { name: name.to_string(), error }),
            }
        }
        Ok(listing)
    }

    fn segment(&self, name: &FileName, bytes: u64) -> Result<Segment, StoreError> {
        let path = self.location.path(&name.to_string());
        let table = Schema::named(&name.table).ok_or_else(|| {
            StoreError::broken(path, format!("holds the table {}, which is unknown", name.table))
        })?;
        let (host, location) = (name.host.clone(), self.location.clone());
        Ok(Segment { host, table, start: name.start, state: name.state, bytes, location })
    }

    /// Hands out the selected rows, piece by piece; the segments of a host and table in the order of time.
    /// Returns the files that could not be read.
    pub fn scan(&self, selection: &Selection<'_>, visit: &mut Visit<'_>) -> Result<Vec<Problem>, StoreError> {
        let Listing { segments, mut problems } = self.segments()?;
        for segment in &segments {
            match segment.scan(selection, visit) {
                Ok(ControlFlow::Break(())) => break,
                Ok(ControlFlow::Continue(())) => {}
                // Removed by the retention since it was listed.
                Err(error) if error.is_absent() => {}
                Err(error) => problems.push(Problem { name: segment.name().to_string(), error }),
            }
        }
        Ok(problems)
    }
}
