//! The thread that writes row groups while an import reads on.
//! In: row groups whose rows are in memory. Out: files with these row groups. Always: at most one row group waits
//! while another one is being written.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use laggard_core::samples::RawTable;

use crate::error::StoreError;
use crate::sealed::parquet_file::{Content, ParquetFile};

/// Packs one row group after the other.
#[derive(Default)]
pub(crate) struct Packer {
    thread: Option<(SyncSender<Job>, JoinHandle<()>)>,
}

/// A file that row groups are packed into.
#[derive(Clone)]
pub(crate) struct Output(Arc<Shared>);

struct Shared {
    path: PathBuf,
    file: Mutex<Option<ParquetFile>>,
    failure: Mutex<Option<StoreError>>,
}

struct Job {
    output: Output,
    rows: RawTable,
}

impl Packer {
    /// Has a row group packed, once the one before is. An error may be one of an earlier row group.
    pub(crate) fn pack(&mut self, output: &Output, rows: RawTable) -> Result<(), StoreError> {
        if let Some(failure) = locked(&output.0.failure).take() {
            return Err(failure);
        }
        let (jobs, _) = match &mut self.thread {
            Some(thread) => thread,
            none => none.insert(start(output)?),
        };
        jobs.send(Job { output: output.clone(), rows }).map_err(|_| output.is_lost())
    }

    /// Waits for all row groups; returns the file.
    pub(crate) fn finish(&mut self, output: &Output) -> Result<ParquetFile, StoreError> {
        if let Some((jobs, thread)) = self.thread.take() {
            drop(jobs);
            // If it panicked, the file is not there any more.
            let _ = thread.join();
        }
        if let Some(failure) = locked(&output.0.failure).take() {
            return Err(failure);
        }
        let file = locked(&output.0.file).take();
        file.ok_or_else(|| output.is_lost())
    }
}

fn start(output: &Output) -> Result<(SyncSender<Job>, JoinHandle<()>), StoreError> {
    let (jobs, queue) = sync_channel(0);
    let thread = std::thread::Builder::new().name("packer".into());
    let thread = thread.spawn(move || pack_all(&queue));
    let thread = thread.map_err(|error| StoreError::io(&output.0.path, "start a thread", error))?;
    Ok((jobs, thread))
}

fn pack_all(queue: &Receiver<Job>) {
    for Job { output: Output(output), rows } in queue {
        // Taken away, so that a file is never used after a panic.
        let Some(mut file) = locked(&output.file).take() else { continue };
        match file.add_in_parallel(&rows) {
            Ok(()) => *locked(&output.file) = Some(file),
            Err(error) => *locked(&output.failure) = Some(error),
        }
    }
}

impl Output {
    /// Begins a file, in place of any other of that name.
    pub(crate) fn create(path: &Path, content: Content<'_>) -> Result<Self, StoreError> {
        let file = Mutex::new(Some(ParquetFile::create(path, content)?));
        Ok(Output(Arc::new(Shared { path: path.into(), file, failure: Mutex::default() })))
    }

    fn is_lost(&self) -> StoreError {
        StoreError::broken(&self.0.path, "the thread that packs row groups has failed")
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::origin::Origin;
    use laggard_core::model::schema::Schema;
    use laggard_core::model::time::Timestamp;

    /// More than fits into any buffer on the way to the file.
    fn noise() -> RawTable {
        let mut rows = RawTable::new(Schema::named("pressure").unwrap());
        let component = rows.number("a");
        for second in 0..4096_i64 {
            let count = second.cast_unsigned().pow(3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
            rows.push_counts(Timestamp::from_seconds(second), None, component, &[count; 6]);
        }
        rows
    }

    fn packed_to(path: &Path) -> Result<u64, StoreError> {
        let origin = Origin { host: "a".into(), every: None, wraps_at_32_bits: false, source: String::new() };
        let (rows, mut packer) = (noise(), Packer::default());
        let content = Content { table: rows.schema(), origin: &origin, level: 1 };
        let output = Output::create(path, content)?;
        packer.pack(&output, rows)?;
        packer.finish(&output)?.finish()
    }

    #[test]
    fn what_is_packed_is_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(packed_to(&folder.path().join("a.parquet")).unwrap(), 4096);
    }

    #[test]
    fn a_full_disk_is_reported() {
        let error = packed_to(Path::new("/dev/full")).unwrap_err();
        assert!(error.to_string().contains("/dev/full"), "{error}");
    }
}
