//! Recording: the tails of one host, turned over at 00:00:05 UTC and sealed behind the recorder's back.
//! In: rows, as they are read. Out: a growing dataset. Always: what was flushed survives the process.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use laggard_core::model::time::Timestamp;
use laggard_core::samples::RawTable;

use crate::error::StoreError;
use crate::format::file_name::encoded;
use crate::format::origin::Origin;
use crate::live_tail::message::Compressor;
use crate::live_tail::writer::{Tail, lock};
use crate::recording::recover::leftovers;
use crate::recording::sealer::{Job, Sealer};
use crate::sealed::seal::Sealed;

/// A recorder that has just ended may seem to be there still: a child that its process was starting holds copies
/// of its locked files until it runs.
const TRIES: usize = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// Appends the samples of one host to a dataset in a folder.
pub struct Recorder {
    folder: PathBuf,
    origin: Origin,
    tails: BTreeMap<&'static str, Tail>,
    press: Compressor,
    sealer: Sealer,
    _lock: HostLock,
}

/// Keeps a second recorder of the same host out of the folder, also before there is a tail.
struct HostLock(File);

impl Drop for HostLock {
    /// Closing would not do: a child that is being started holds a copy of the file until it runs.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl HostLock {
    fn take(folder: &Path, host: &str) -> Result<HostLock, StoreError> {
        let path = folder.join(format!(".{}.lock", encoded(host)));
        let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = opened.map_err(|error| StoreError::io(&path, "make it", error))?;
        if lock(&file, &path)? {
            return Ok(HostLock(file));
        }
        Err(StoreError::Busy { path: path.display().to_string(), host: host.into() })
    }
}

impl Recorder {
    /// Opens a folder for one host, making it if need be. What an interrupted recorder of that host has
    /// left behind is sealed in the background.
    pub fn open(folder: &Path, origin: Origin) -> Result<Self, StoreError> {
        for _ in 0..TRIES {
            match Recorder::try_open(folder, origin.clone()) {
                Err(StoreError::Busy { .. }) => std::thread::sleep(BETWEEN_TRIES),
                outcome => return outcome,
            }
        }
        Recorder::try_open(folder, origin)
    }

    fn try_open(folder: &Path, origin: Origin) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder).map_err(|error| StoreError::io(folder, "make it", error))?;
        let lock = HostLock::take(folder, &origin.host)?;
        let left = leftovers(folder, &origin.host)?;
        if let Some(name) = left.busy.first() {
            let path = folder.join(name.to_string()).display().to_string();
            return Err(StoreError::Busy { path, host: origin.host });
        }
        let sealer = Sealer::start(folder)?;
        left.jobs.into_iter().for_each(|job| sealer.queue(job));
        Ok(Recorder {
            folder: folder.into(),
            origin,
            tails: BTreeMap::new(),
            press: Compressor::default(),
            sealer,
            _lock: lock,
        })
    }

    /// Gathers the rows of one tick of one table. They are on disk after [`Recorder::flush`].
    ///
    /// The time of the first row decides the file: a tick is never torn apart. Files whose time has come are
    /// ended, those of other tables too.
    pub fn append(&mut self, rows: &RawTable) -> Result<(), StoreError> {
        let Some(&time) = rows.time.first() else { return Ok(()) };
        let time = Timestamp::from_micros(time);
        self.turn_over(time)?;
        let table = rows.schema();
        let tail = match self.tails.entry(table.name) {
            Entry::Occupied(tail) => tail.into_mut(),
            Entry::Vacant(place) => place.insert(Tail::create(&self.folder, table, &self.origin, time)?),
        };
        tail.append(rows, &mut self.press)
    }

    /// Writes what was gathered: it survives the process from here on.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.tails.values_mut().try_for_each(|tail| tail.flush(&mut self.press))
    }

    /// Writes what was gathered, and waits for the disk: it survives a power cut from here on.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.tails.values_mut().try_for_each(|tail| tail.sync(&mut self.press))
    }

    /// Files sealed, or not sealed because of an error, since the last call. A tail that could not be sealed stays,
    /// readable, for the next start.
    pub fn sealed(&mut self) -> Vec<Result<Sealed, StoreError>> {
        self.sealer.outcomes()
    }

    /// Ends all files and waits until they are sealed. Rows that cannot be written any more are an error
    /// among the outcomes; those before them are sealed all the same.
    pub fn close(mut self) -> Vec<Result<Sealed, StoreError>> {
        let mut failures = Vec::new();
        for (_, mut tail) in std::mem::take(&mut self.tails) {
            failures.extend(tail.flush(&mut self.press).err().map(Err));
            self.queue(tail);
        }
        let mut outcomes = self.sealer.finish();
        outcomes.extend(failures);
        outcomes
    }

    /// Ends the files whose time has come.
    fn turn_over(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let is_due = |tail: &Tail| tail.ends() <= now;
        for tail in self.tails.values_mut().filter(|tail| is_due(tail)) {
            tail.flush(&mut self.press)?;
        }
        let (due, rest) = std::mem::take(&mut self.tails).into_iter().partition(|(_, tail)| is_due(tail));
        self.tails = rest;
        let due: BTreeMap<_, _> = due;
        due.into_values().for_each(|tail| self.queue(tail));
        Ok(())
    }

    fn queue(&self, tail: Tail) {
        let (name, file) = tail.into_medium();
        self.sealer.queue(Job { name, file });
    }
}
