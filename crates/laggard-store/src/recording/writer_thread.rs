//! A thread that writes batches of rows, so that the sampler never waits for the disk.
//!
//! A storage server with a fault may hold a write back for seconds, just when the samples matter most. Batches wait in
//! memory up to a bound; samples beyond it are dropped and counted.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use laggard_core::model::time::{Span, Timestamp};
use laggard_core::samples::RawTable;

use super::recorder::Recorder;
use crate::dataset::Dataset;
use crate::dataset::retention::Retention;
use crate::error::StoreError;
use crate::format::cycle::next_cycle;
use crate::sealed::seal::Sealed;

/// Batches that may wait for the disk: with the default flush interval, a minute of samples.
const WAITING_BATCHES: usize = 12;
/// About ten minutes at one sample per second.
const MAX_TICKS_IN_MEMORY: u64 = 600;
/// The most that a power cut may lose. A crash of the process loses less.
const SYNC_EVERY: Duration = Duration::from_secs(60);
const RETAIN_EVERY: Duration = Duration::from_secs(600);

/// Rows that have not been handed to the writer yet, one table per schema.
#[derive(Default)]
pub struct Batch {
    tables: BTreeMap<&'static str, RawTable>,
    first: Option<Timestamp>,
    ticks: u64,
}

impl Batch {
    pub fn add(&mut self, rows: &RawTable) {
        let table = self.tables.entry(rows.schema().name).or_insert_with(|| RawTable::new(rows.schema()));
        table.append(rows);
    }

    pub fn end_tick(&mut self, time: Timestamp) {
        self.first.get_or_insert(time);
        self.ticks += 1;
    }

    /// True if the first rows would be older than `flush` at the next sample.
    pub fn is_due(&self, next: Timestamp, flush: Span) -> bool {
        self.first.is_some_and(|first| next - first >= flush)
    }

    /// True if a new file begins with a sample at `now`, or the clock was set back.
    pub fn belongs_to_earlier_file(&self, now: Timestamp) -> bool {
        self.first.is_some_and(|first| now < first || now >= next_cycle(first))
    }
}

/// The result of a recording: the size of its sealed files, and the errors.
#[derive(Default)]
pub struct Written {
    pub bytes: u64,
    pub errors: Vec<StoreError>,
}

pub struct WriterThread {
    batches: SyncSender<Vec<RawTable>>,
    thread: JoinHandle<Written>,
}

impl WriterThread {
    /// Calls `report` with every error and `ended` when it stops, after the first error or after `finish`.
    pub fn start(
        recorder: Recorder,
        dataset: Dataset,
        retention: Retention,
        now: fn() -> Timestamp,
        report: fn(&StoreError),
        ended: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<WriterThread> {
        let (sender, batches) = sync_channel(WAITING_BATCHES);
        let writer = WriterLoop { dataset, retention, now, report, written: Written::default() };
        let work = move || {
            let written = writer.run(recorder, batches);
            ended();
            written
        };
        let thread = std::thread::Builder::new().name("writer".into()).spawn(work)?;
        Ok(WriterThread { batches: sender, thread })
    }

    /// Empties the batch, unless the queue is full: then the batch keeps its rows up to a bound. Returns the number of
    /// dropped samples.
    pub fn hand_over(&self, batch: &mut Batch) -> u64 {
        let Batch { tables, first, ticks } = std::mem::take(batch);
        match self.batches.try_send(tables.into_values().collect()) {
            Ok(()) => 0,
            Err(TrySendError::Full(tables)) if ticks < MAX_TICKS_IN_MEMORY => {
                let tables = tables.into_iter().map(|table| (table.schema().name, table)).collect();
                *batch = Batch { tables, first, ticks };
                0
            }
            Err(_) => ticks,
        }
    }

    /// Writes the last batch and seals all files.
    pub fn finish(self, last: Batch) -> std::thread::Result<Written> {
        // A writer that has stopped has reported why.
        let _ = self.batches.send(last.tables.into_values().collect());
        drop(self.batches);
        self.thread.join()
    }
}

struct WriterLoop {
    dataset: Dataset,
    retention: Retention,
    now: fn() -> Timestamp,
    report: fn(&StoreError),
    written: Written,
}

impl WriterLoop {
    /// Writes until the sender is dropped, or a batch cannot be written.
    fn run(mut self, mut recorder: Recorder, batches: Receiver<Vec<RawTable>>) -> Written {
        let (mut synced, mut retained) = (Instant::now(), Instant::now());
        for batch in batches {
            let sync = synced.elapsed() >= SYNC_EVERY;
            if let Err(error) = write(&mut recorder, &batch, sync) {
                self.fail(error);
                break;
            }
            if sync {
                synced = Instant::now();
            }
            if retained.elapsed() >= RETAIN_EVERY {
                self.retain();
                retained = Instant::now();
            }
            self.count(recorder.sealed());
        }
        self.close(recorder)
    }

    fn close(mut self, recorder: Recorder) -> Written {
        let outcomes = recorder.close();
        // After a failure sealing fails for the same reason. The live tails stay, and the next start seals them.
        if self.written.errors.is_empty() {
            self.count(outcomes);
        }
        self.retain();
        self.written
    }

    fn count(&mut self, outcomes: Vec<Result<Sealed, StoreError>>) {
        for outcome in outcomes {
            match outcome {
                Ok(sealed) => {
                    let metadata = sealed.path.and_then(|path| path.metadata().ok());
                    self.written.bytes += metadata.map_or(0, |metadata| metadata.len());
                }
                Err(error) => self.fail(error),
            }
        }
    }

    fn fail(&mut self, error: StoreError) {
        (self.report)(&error);
        self.written.errors.push(error);
    }

    fn retain(&self) {
        let Retention { max_age, max_bytes } = self.retention;
        if max_age.is_none() && max_bytes.is_none() {
            return;
        }
        if let Err(error) = self.dataset.retain(self.retention, (self.now)()) {
            (self.report)(&error);
        }
    }
}

fn write(recorder: &mut Recorder, batch: &[RawTable], sync: bool) -> Result<(), StoreError> {
    for table in batch {
        recorder.append(table)?;
    }
    if sync { recorder.sync() } else { recorder.flush() }
}
