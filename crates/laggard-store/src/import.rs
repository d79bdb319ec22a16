//! Importing: rows of many hosts and tables, in the order of recording, become sealed files.
//! In: rows and their origins. Out: one Parquet file per host, table and day. Always: an interrupted import
//! leaves nothing behind in the dataset; memory does not grow with the number of rows.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;
use laggard_core::samples::RawTable;

use crate::columns::rows_within;
use crate::cycle::{MARGIN, day_of, next_cycle};
use crate::dataset::Dataset;
use crate::error::StoreError;
use crate::location::Location;
use crate::message::{Encoder, Press};
use crate::name::{FileName, State};
use crate::origin::Origin;
use crate::seal::pack;
use crate::segment::Segment;
use crate::tail::lock;

/// Rows of one spool that are gathered before they are written.
const ROWS_AT_ONCE: usize = 16 * 1024;
/// Values of all spools that are gathered before they are written: 32 MiB.
const MAX_PENDING_VALUES: usize = 4 << 20;
/// How many rows a row group aims at: an import may take more memory than a recorder.
const ROWS_PER_GROUP: usize = 512 * 1024;

/// Takes rows in, and makes sealed files of them at the end.
pub struct Importer {
    dataset: Dataset,
    workshop: Workshop,
    streams: BTreeMap<(String, &'static str), Stream>,
    press: Press,
    pending_values: usize,
    spools: u64,
}

/// A file that an import made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its name.
    pub name: FileName,
    /// How many rows it holds.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// Whether it took the place of one that the same source had made before.
    pub replaced: bool,
}

/// The rows of one host and table.
struct Stream {
    origin: Origin,
    table: &'static Schema,
    spools: Vec<Spool>,
    current: usize,
}

/// The rows of one day, on their way to one file.
struct Spool {
    path: PathBuf,
    start: Timestamp,
    earliest: i64,
    encoder: Encoder,
    pending: RawTable,
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
        let (streams, press) = (BTreeMap::new(), Press::default());
        Ok(Importer { dataset, workshop, streams, press, pending_values: 0, spools: 0 })
    }

    /// Takes in rows of one host and table.
    pub fn add(&mut self, origin: &Origin, rows: &RawTable) -> Result<(), StoreError> {
        let table = rows.schema();
        let stream = self.streams.entry((origin.host.clone(), table.name)).or_insert_with(|| Stream {
            origin: origin.clone(),
            table,
            spools: Vec::new(),
            current: 0,
        });
        let width = table.columns.len() + 3;
        let mut from = 0;
        while from < rows.len() {
            let spool =
                stream.spool_of(Timestamp::from_micros(rows.time[from]), &self.workshop, &mut self.spools)?;
            let range = from..from + spool.run(&rows.time[from..]);
            from = range.end;
            self.pending_values += range.len() * width;
            self.pending_values -= spool.add(rows, range, &mut self.press)? * width;
        }
        if self.pending_values > MAX_PENDING_VALUES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        for spool in self.streams.values_mut().flat_map(|stream| &mut stream.spools) {
            spool.flush(&mut self.press)?;
        }
        self.pending_values = 0;
        Ok(())
    }

    /// Makes the sealed files. Until all are complete, none is in the dataset.
    pub fn finish(mut self) -> Result<Vec<Imported>, StoreError> {
        self.flush()?;
        let mut ready = Vec::new();
        for stream in self.streams.values() {
            for spool in &stream.spools {
                ready.push((stream, self.pack(stream, spool)?));
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

    /// Keeps other imports into the folder waiting. Where folders cannot be locked, nobody waits.
    fn alone(&self) -> Option<File> {
        let folder = File::open(self.dataset.folder()?).ok()?;
        folder.lock().ok()?;
        Some(folder)
    }

    fn pack(&self, stream: &Stream, spool: &Spool) -> Result<(PathBuf, Imported), StoreError> {
        let name = FileName::new(&stream.origin.host, stream.table.name, spool.named_start(), State::Sealed)?;
        self.replaces(&name, stream)?;
        let parquet = spool.path.with_extension("parquet");
        let packed = pack(&spool.path, &parquet, ROWS_PER_GROUP)?;
        // The workshop should not hold everything twice.
        std::fs::remove_file(&spool.path).map_err(|error| StoreError::io(&spool.path, "remove it", error))?;
        let bytes = parquet.metadata().map_or(0, |metadata| metadata.len());
        Ok((parquet, Imported { name, rows: packed.rows, bytes, replaced: false }))
    }

    /// Whether a file of that name is there; an error if it must not be replaced.
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
    /// The spool for a sample of that time: the current one if it fits, so that a small step back of the
    /// clock does not go to the day before; else the one of its day.
    fn spool_of(
        &mut self,
        time: Timestamp,
        workshop: &Workshop,
        spools: &mut u64,
    ) -> Result<&mut Spool, StoreError> {
        let is_current = self.spools.get(self.current).is_some_and(|spool| spool.fits(time));
        if !is_current {
            self.current = match self.spools.iter().position(|spool| day_of(spool.start) == day_of(time)) {
                Some(known) => known,
                None => {
                    // Checks the time, too.
                    FileName::new(&self.origin.host, self.table.name, time, State::Sealed)?;
                    *spools += 1;
                    self.spools.push(Spool::new(workshop, *spools, time, self.table, &self.origin));
                    self.spools.len() - 1
                }
            };
        }
        Ok(&mut self.spools[self.current])
    }
}

impl Spool {
    fn new(
        workshop: &Workshop,
        number: u64,
        start: Timestamp,
        table: &'static Schema,
        origin: &Origin,
    ) -> Self {
        let path = workshop.folder.join(format!("{number}.arrow"));
        let (encoder, pending) = (Encoder::new(table, origin), RawTable::new(table));
        Spool { path, start, earliest: start.micros(), encoder, pending }
    }

    fn fits(&self, time: Timestamp) -> bool {
        time >= day_of(self.start) - MARGIN && time < next_cycle(self.start)
    }

    /// How many of the first samples belong here.
    fn run(&self, times: &[i64]) -> usize {
        let fitting = times.iter().take_while(|&&time| self.fits(Timestamp::from_micros(time))).count();
        // The first one was found to belong here, whatever its neighbours do.
        fitting.max(1)
    }

    /// Gathers rows; gives the number of those that were written.
    fn add(&mut self, rows: &RawTable, range: Range<usize>, press: &mut Press) -> Result<usize, StoreError> {
        let earliest = rows.time[range.clone()].iter().copied().min();
        self.earliest = self.earliest.min(earliest.unwrap_or(i64::MAX));
        match range.len() == rows.len() {
            true => self.pending.append(rows),
            false => self.pending.append(&rows_within(rows, range)),
        }
        if self.pending.len() < ROWS_AT_ONCE { Ok(0) } else { self.flush(press) }
    }

    /// Writes what was gathered. The file is not kept open: there may be thousands.
    fn flush(&mut self, press: &mut Press) -> Result<usize, StoreError> {
        if self.pending.is_empty() {
            return Ok(0);
        }
        let mut bytes = Vec::new();
        let encoded = self.encoder.encode(&self.pending, press, &mut bytes);
        encoded.map_err(|error| StoreError::broken(&self.path, format!("cannot encode rows: {error}")))?;
        let file = OpenOptions::new().append(true).create(true).open(&self.path);
        let written = file.and_then(|mut file| file.write_all(&bytes));
        written.map_err(|error| StoreError::io(&self.path, "append to it", error))?;
        let rows = self.pending.len();
        self.pending = RawTable::new(self.pending.schema());
        Ok(rows)
    }

    /// The time in the file's name: its earliest sample, but not one of the day before.
    fn named_start(&self) -> Timestamp {
        Timestamp::from_micros(self.earliest).max(day_of(self.start))
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
