//! The live tail: an Arrow stream of one host and table that only ever grows by whole messages.
//! In: rows, as they are recorded. Out: a file that can be read, and recovered, after a stop at any byte.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use laggard_core::model::schema::Schema;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::samples::RawTable;

use crate::error::StoreError;
use crate::format::cycle::next_cycle;
use crate::format::file_name::{FileName, State};
use crate::format::origin::Origin;
use crate::live_tail::message::{Compressor, Encoder};

/// Rows that are gathered at most before they are written without being asked to.
const MAX_PENDING_ROWS: usize = 16 * 1024;

/// How many names are tried when the first ones are taken.
const NAMES_TRIED: i64 = 3600;

/// The target of a tail: a file, or something that behaves like one.
pub(crate) trait Medium: Write {
    /// Shortens it to `bytes` bytes.
    fn cut(&mut self, bytes: u64) -> io::Result<()>;
    /// Waits until what was written will survive a power cut.
    fn sync(&mut self) -> io::Result<()>;
}

impl Medium for File {
    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Appends rows to one file.
pub(crate) struct Tail<M = File> {
    path: PathBuf,
    name: FileName,
    medium: M,
    encoder: Encoder,
    pending: RawTable,
    unwritten: Vec<u8>,
    written: u64,
}

impl Tail<File> {
    /// Begins a file for samples from `start` on, and locks it.
    pub(crate) fn create(
        folder: &Path,
        table: &'static Schema,
        origin: &Origin,
        start: Timestamp,
    ) -> Result<Self, StoreError> {
        let (name, file) =
            create_file(folder, &FileName::new(&origin.host, table.name, start, State::Live)?)?;
        Ok(Tail::new(folder.join(name.to_string()), name, file, table, origin))
    }
}

impl<M: Medium> Tail<M> {
    pub(crate) fn new(
        path: PathBuf,
        name: FileName,
        medium: M,
        table: &'static Schema,
        origin: &Origin,
    ) -> Self {
        let (encoder, pending) = (Encoder::new(table, origin), RawTable::new(table));
        Tail { path, name, medium, encoder, pending, unwritten: Vec::new(), written: 0 }
    }

    /// When it has to end.
    pub(crate) fn ends(&self) -> Timestamp {
        next_cycle(self.name.start)
    }

    /// Gathers some rows.
    pub(crate) fn append(&mut self, rows: &RawTable, press: &mut Compressor) -> Result<(), StoreError> {
        self.pending.append(rows);
        if self.pending.len() >= MAX_PENDING_ROWS { self.flush(press) } else { Ok(()) }
    }

    /// Writes what was gathered. When it cannot, the file still ends with a whole message, and what could
    /// not be written is kept for the next try.
    pub(crate) fn flush(&mut self, press: &mut Compressor) -> Result<(), StoreError> {
        if !self.pending.is_empty() {
            let encoded = self.encoder.encode(&self.pending, press, &mut self.unwritten);
            encoded
                .map_err(|error| StoreError::broken(&self.path, format!("cannot encode rows: {error}")))?;
            // A new table, so that names of components that have gone are not kept for ever.
            self.pending = RawTable::new(self.pending.schema());
        }
        if self.unwritten.is_empty() {
            return Ok(());
        }
        self.write().map_err(|error| StoreError::io(&self.path, "append to it", error))
    }

    fn write(&mut self) -> io::Result<()> {
        if let Err(error) = self.medium.write_all(&self.unwritten) {
            // Recovery would drop the half message too; readers in the meantime are spared it.
            let _ = self.medium.cut(self.written);
            return Err(error);
        }
        self.written += self.unwritten.len() as u64;
        self.unwritten.clear();
        Ok(())
    }

    /// Writes what was gathered, and waits until it will survive a power cut.
    pub(crate) fn sync(&mut self, press: &mut Compressor) -> Result<(), StoreError> {
        self.flush(press)?;
        self.medium.sync().map_err(|error| StoreError::io(&self.path, "write it to disk", error))
    }

    /// Lets go of the file, and of what was not flushed; the lock is held as long as the medium is.
    pub(crate) fn into_medium(self) -> (FileName, M) {
        (self.name, self.medium)
    }
}

/// Creates and locks a file of the first free name, counted up by seconds: a recorder that is started twice
/// within one second must not write over what it recorded before.
fn create_file(folder: &Path, wanted: &FileName) -> Result<(FileName, File), StoreError> {
    for later in 0..NAMES_TRIED {
        let name = wanted.starting(wanted.start + Span::SECOND * later)?;
        let sealed = folder.join(name.with_state(State::Sealed).to_string());
        if sealed.exists() {
            continue;
        }
        if let Some(file) = create_locked(&folder.join(name.to_string()))? {
            return Ok((name, file));
        }
    }
    Err(StoreError::broken(
        folder.join(wanted.to_string()),
        "expected a free name within the next hour, found none",
    ))
}

/// Creates a file that did not exist, and locks it.
fn create_locked(path: &Path) -> Result<Option<File>, StoreError> {
    // Appending also after a cut: the position of the file follows its end.
    match OpenOptions::new().append(true).read(true).create_new(true).open(path) {
        Ok(file) => Ok(lock(&file, path)?.then_some(file)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(StoreError::io(path, "create it", error)),
    }
}

/// Locks a file for this process; false if another process has it, or has removed it meanwhile.
pub(crate) fn lock(file: &File, path: &Path) -> Result<bool, StoreError> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) => return Err(StoreError::io(path, "lock it", error)),
    }
    let metadata = file.metadata().map_err(|error| StoreError::io(path, "read its metadata", error))?;
    Ok(metadata.nlink() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live_tail::frame::{End, Frames};

    /// A medium of `room` bytes, like a disk.
    struct Limited {
        bytes: Vec<u8>,
        room: usize,
    }

    impl Write for Limited {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let fitting = bytes.len().min(self.room - self.bytes.len());
            if fitting == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.bytes.extend_from_slice(&bytes[..fitting]);
            Ok(fitting)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Medium for Limited {
        fn cut(&mut self, bytes: u64) -> io::Result<()> {
            self.bytes.truncate(bytes as usize);
            Ok(())
        }

        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn tail(room: usize) -> Tail<Limited> {
        let table = Schema::named("pressure").unwrap();
        let origin = Origin { host: "a".into(), every: None, wraps_at_32_bits: false, source: String::new() };
        let name = FileName::new("a", "pressure", Timestamp::from_seconds(0), State::Live).unwrap();
        Tail::new("a".into(), name, Limited { bytes: Vec::new(), room }, table, &origin)
    }

    fn row(second: i64) -> RawTable {
        let mut rows = RawTable::new(Schema::named("pressure").unwrap());
        let component = rows.number("a");
        rows.push_counts(Timestamp::from_seconds(second), None, component, &[second as u64; 6]);
        rows
    }

    /// How many rows a tail's bytes hold, and how they end.
    fn content(bytes: &[u8]) -> (usize, End) {
        let mut frames = Frames::new(bytes);
        let mut rows = 0;
        while let Some(frame) = frames.next().unwrap() {
            rows += frame.decode(&[0]).unwrap().num_rows();
        }
        (rows, frames.end().unwrap().clone())
    }

    #[test]
    fn a_full_disk_leaves_whole_messages_and_room_lets_it_go_on() {
        let mut press = Compressor::default();
        for room in (0..6000).step_by(101) {
            let mut tail = tail(room);
            let mut flushed = 0;
            for second in 0..4 {
                tail.append(&row(second), &mut press).unwrap();
                match tail.flush(&mut press) {
                    Ok(()) => flushed += 1,
                    Err(error) => {
                        assert!(matches!(error, StoreError::Full { .. }));
                        break;
                    }
                }
            }
            assert_eq!(content(&tail.medium.bytes), (flushed, End::Whole));
            tail.medium.room = 1 << 20;
            tail.flush(&mut press).unwrap();
            assert_eq!(content(&tail.medium.bytes).0, (flushed + 1).min(4));
        }
    }

    #[test]
    fn a_tail_cut_anywhere_is_read_up_to_the_cut() {
        let (mut tail, mut press) = (tail(1 << 20), Compressor::default());
        let mut ends = Vec::new();
        for second in 0..3 {
            tail.append(&row(second), &mut press).unwrap();
            tail.flush(&mut press).unwrap();
            ends.push(tail.medium.bytes.len());
        }
        for cut in 0..tail.medium.bytes.len() {
            let (rows, end) = content(&tail.medium.bytes[..cut]);
            assert_eq!(rows, ends.iter().filter(|&&end| end <= cut).count());
            assert!(!matches!(end, End::Damaged(_)), "cut at {cut}");
        }
    }

    #[test]
    fn names_that_come_and_go_do_not_pile_up() {
        let (mut tail, mut press) = (tail(1 << 30), Compressor::default());
        let mut sizes = Vec::new();
        for second in 0..20 {
            let mut rows = RawTable::new(Schema::named("pressure").unwrap());
            for socket in 0..500 {
                let component = rows.number(&format!("socket {second} {socket}"));
                rows.push_counts(Timestamp::from_seconds(second), None, component, &[]);
            }
            let before = tail.medium.bytes.len();
            tail.append(&rows, &mut press).unwrap();
            tail.flush(&mut press).unwrap();
            sizes.push(tail.medium.bytes.len() - before);
        }
        assert!(sizes[19] < 2 * sizes[1], "{sizes:?}");
        assert_eq!(content(&tail.medium.bytes), (20 * 500, End::Whole));
    }
}
