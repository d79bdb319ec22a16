//! Importing: rows of many hosts and tables, in the order of recording, become sealed files.
//! In: rows and their origins. Out: one Parquet file per host, table and day. Always: an interrupted import
//! leaves nothing in the dataset; memory does not grow with the number of rows.

mod day_file;
mod packer;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;
use laggard_core::samples::RawTable;

use crate::dataset::Dataset;
use crate::dataset::segment::Segment;
use crate::error::StoreError;
use crate::format::columns::rows_within;
use crate::format::cycle::day_of;
use crate::format::file_name::{FileName, State};
use crate::format::origin::Origin;
use crate::import::day_file::{DayFile, Tools};
use crate::live_tail::writer::lock;
use crate::location::Location;

/// Values that are held in memory: 56 MiB, and room for a whole row group of disks.
const MAX_HELD_VALUES: usize = 7 << 20;
/// Files that are kept open: less than half of what a process usually may.
const MAX_OPEN: usize = 400;

/// Takes rows in, and makes sealed files of them at the end.
pub struct Importer {
    dataset: Dataset,
    workshop: Workshop,
    streams: BTreeMap<(String, &'static str), Stream>,
    tools: Tools,
    held_values: usize,
    open_files: usize,
    days: u64,
}

/// A file that an import made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub name: FileName,
    pub rows: u64,
    pub bytes: u64,
    /// True if it took the place of one that the same source had made before.
    pub replaced: bool,
}

/// The rows of one host and table.
struct Stream {
    origin: Origin,
    table: &'static Schema,
    days: Vec<DayFile>,
    current: usize,
}

impl Importer {
    /// Begins an import into a folder, made if need be, or a prefix of an object store.
    pub fn open(location: &str) -> Result<Self, StoreError> {
        Importer::into(Dataset::open(location)?)
    }

    /// Begins an import into a dataset.
    pub fn into(dataset: Dataset) -> Result<Self, StoreError> {
        let workshop = match &dataset.location {
            Location::Folder(folder) => Workshop::within(folder)?,
            Location::Remote(_) => Workshop::within(&std::env::temp_dir())?,
        };
        let (streams, tools) = (BTreeMap::new(), Tools::default());
        Ok(Importer { dataset, workshop, streams, tools, held_values: 0, open_files: 0, days: 0 })
    }

    /// Takes in a copy of rows of one host and table.
    pub fn add(&mut self, origin: &Origin, rows: &RawTable) -> Result<(), StoreError> {
        self.take(origin, rows.clone())
    }

    /// Takes in rows of one host and table.
    pub fn take(&mut self, origin: &Origin, mut rows: RawTable) -> Result<(), StoreError> {
        let table = rows.schema();
        let stream = self.streams.entry((origin.host.clone(), table.name)).or_insert_with(|| Stream {
            origin: origin.clone(),
            table,
            days: Vec::new(),
            current: 0,
        });
        let mut from = 0;
        while from < rows.len() {
            let time = Timestamp::from_micros(rows.time[from]);
            let day = stream.day_of(time, &self.workshop, &mut self.days)?;
            let range = from..from + day.run(&rows.time[from..]);
            from = range.end;
            let of_day = match range.len() == rows.len() {
                true => std::mem::replace(&mut rows, RawTable::new(table)),
                false => rows_within(&rows, range),
            };
            self.held_values -= day.held_values();
            self.open_files -= usize::from(day.is_open());
            day.add(of_day, self.open_files < MAX_OPEN, &mut self.tools)?;
            self.open_files += usize::from(day.is_open());
            self.held_values += day.held_values();
        }
        if self.held_values > MAX_HELD_VALUES { self.make_room() } else { Ok(()) }
    }

    /// Puts rows on disk: those of days that are over, then those that fill no row group of their own for long,
    /// then all.
    fn make_room(&mut self) -> Result<(), StoreError> {
        let is_over = |is_current: bool, _: &DayFile| !is_current;
        let is_slow = |_: bool, day: &DayFile| !day.is_open();
        self.spill(is_over)?;
        if self.held_values > MAX_HELD_VALUES {
            self.spill(is_slow)?;
        }
        if self.held_values > MAX_HELD_VALUES { self.spill(|_, _| true) } else { Ok(()) }
    }

    fn spill(&mut self, is_chosen: impl Fn(bool, &DayFile) -> bool) -> Result<(), StoreError> {
        for stream in self.streams.values_mut() {
            for (number, day) in stream.days.iter_mut().enumerate() {
                if day.held_values() > 0 && is_chosen(number == stream.current, day) {
                    self.held_values -= day.held_values();
                    day.spill(&mut self.tools)?;
                }
            }
        }
        Ok(())
    }

    /// Makes the sealed files. Until all are complete, none is in the dataset.
    pub fn finish(mut self) -> Result<Vec<Imported>, StoreError> {
        let mut ready = Vec::new();
        let mut streams = std::mem::take(&mut self.streams);
        for stream in streams.values_mut() {
            for day in std::mem::take(&mut stream.days) {
                ready.push((&*stream, self.complete(stream, day)?));
            }
        }
        // Another import may have made one of these meanwhile, and none may from here on.
        let _alone = self.alone();
        for (stream, (_, imported)) in &mut ready {
            imported.replaced = self.replaces(&imported.name, stream)?;
        }
        for (_, (path, imported)) in &ready {
            self.dataset.location.publish(path, &imported.name.to_string())?;
        }
        Ok(ready.into_iter().map(|(_, (_, imported))| imported).collect())
    }

    /// Keeps other imports into the folder waiting. Where folders cannot be locked, they do not wait.
    fn alone(&self) -> Option<File> {
        let folder = File::open(self.dataset.folder()?).ok()?;
        folder.lock().ok()?;
        Some(folder)
    }

    fn complete(&mut self, stream: &Stream, day: DayFile) -> Result<(PathBuf, Imported), StoreError> {
        let name = FileName::new(&stream.origin.host, stream.table.name, day.named_start(), State::Sealed)?;
        self.replaces(&name, stream)?;
        let (parquet, rows) = day.finish(&mut self.tools)?;
        let bytes = parquet.metadata().map_or(0, |metadata| metadata.len());
        Ok((parquet, Imported { name, rows, bytes, replaced: false }))
    }

    /// True if a file of that name is there; an error if it must not be replaced.
    fn replaces(&self, name: &FileName, stream: &Stream) -> Result<bool, StoreError> {
        let there = |state| self.segment(&name.with_state(state), stream).origin();
        let taken = |theirs: &str| StoreError::Taken {
            path: self.dataset.location.path(&name.to_string()).display().to_string(),
            theirs: theirs.into(),
            ours: stream.origin.source.clone(),
        };
        match (there(State::Live), there(State::Sealed)) {
            (Ok(_), Err(_)) => Err(taken("a running recorder")),
            (_, Ok(origin)) if origin.source == stream.origin.source => Ok(true),
            (_, Ok(origin)) => Err(taken(&origin.source)),
            (_, Err(error)) if error.is_absent() => Ok(false),
            (_, Err(error)) => Err(error),
        }
    }

    fn segment(&self, name: &FileName, stream: &Stream) -> Segment {
        let (host, location) = (name.host.clone(), self.dataset.location.clone());
        Segment { host, table: stream.table, start: name.start, state: name.state, bytes: 0, location }
    }
}

impl Stream {
    /// The day of a sample of that time: the current one if it fits, so that a small step back of the clock
    /// does not go to the day before; else its own.
    fn day_of(
        &mut self,
        time: Timestamp,
        workshop: &Workshop,
        days: &mut u64,
    ) -> Result<&mut DayFile, StoreError> {
        let is_current = self.days.get(self.current).is_some_and(|day| day.fits(time));
        if !is_current {
            self.current = match self.days.iter().position(|day| day_of(day.start()) == day_of(time)) {
                Some(known) => known,
                None => {
                    // Checks the time, too.
                    FileName::new(&self.origin.host, self.table.name, time, State::Sealed)?;
                    *days += 1;
                    let parquet = workshop.folder.join(format!("{days}.parquet"));
                    self.days.push(DayFile::new(parquet, time, self.table, &self.origin));
                    self.days.len() - 1
                }
            };
        }
        Ok(&mut self.days[self.current])
    }
}

/// A hidden folder that an import works in, and that goes away with it.
struct Workshop {
    folder: PathBuf,
    _lock: Option<File>,
}

const WORKSHOP: &str = ".laggard-import-";
/// Its name until it is locked, so that no other import sweeps it away in between.
const NEW_WORKSHOP: &str = ".laggard-new-import-";

static WORKSHOPS: AtomicU64 = AtomicU64::new(0);

impl Workshop {
    fn within(folder: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder).map_err(|error| StoreError::io(folder, "make it", error))?;
        sweep(folder);
        let number = WORKSHOPS.fetch_add(1, Ordering::Relaxed);
        let named = |prefix: &str| folder.join(format!("{prefix}{}-{number}", std::process::id()));
        let (new, folder) = (named(NEW_WORKSHOP), named(WORKSHOP));
        // Those of these names can only be left over from a process that is gone.
        let _ = (std::fs::remove_dir_all(&new), std::fs::remove_dir_all(&folder));
        std::fs::create_dir(&new).map_err(|error| StoreError::io(&new, "make it", error))?;
        // Without a lock (some network file systems) it is merely not swept when left behind.
        let held = File::open(&new).ok().filter(|file| lock(file, &new).unwrap_or(false));
        std::fs::rename(&new, &folder).map_err(|error| StoreError::io(&folder, "make it", error))?;
        Ok(Workshop { folder, _lock: held })
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Removes what interrupted imports have left.
fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(WORKSHOP)) {
        let path = entry.path();
        if File::open(&path).is_ok_and(|file| lock(&file, &path).unwrap_or(false)) {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}
