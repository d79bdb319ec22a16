//! The record loop: one thread samples on the time grid, another writes.
//!
//! They are apart because a storage server that is in trouble may hold a write back for seconds, just when the
//! samples matter most. The sampler never waits for the disk; batches wait in memory, up to a bound, and what
//! goes beyond it is counted as missed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use indicatif::ProgressBar;
use laggard_core::model::time::{Span, Timestamp};
use laggard_core::samples::RawTable;
use laggard_sources::live::clock::{ClockAccount, Moment, Schedule, Step};
use laggard_sources::live::host;
use laggard_sources::live::sampler::Sampler;
use laggard_store::cycle::next_cycle;
use laggard_store::dataset::Dataset;
use laggard_store::error::StoreError;
use laggard_store::origin::Origin;
use laggard_store::recorder::Recorder;
use laggard_store::retention::Retention;
use laggard_store::seal::Sealed;

use crate::bell::{Bell, Rope};
use crate::failure::tell;
use crate::progress;

/// How long to hold data in memory and on disk.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Hand over to the writer this often.
    pub flush: Span,
    /// Remove sealed files older than this.
    pub keep: Option<Span>,
    /// Remove the oldest sealed files beyond so many bytes.
    pub keep_bytes: Option<u64>,
}

/// A recording under way.
pub struct Recording {
    sampler: Sampler,
    schedule: Schedule,
    batch: Batch,
    flush: Span,
    every: Span,
    /// Instants whose samples were thrown away because the disk did not keep up.
    dropped: u64,
    components: BTreeMap<&'static str, usize>,
    writer: Writer,
    bell: Bell,
}

/// What a recording came to.
#[derive(Debug)]
pub struct Summary {
    /// Samples taken and missed.
    pub clock: ClockAccount,
    /// Components seen.
    pub components: usize,
    /// Size of the sealed files.
    pub bytes: u64,
    /// What went wrong while writing.
    errors: Vec<StoreError>,
}

/// Rows that have not been handed to the writer yet: a table for each schema.
#[derive(Default)]
struct Batch {
    tables: BTreeMap<&'static str, RawTable>,
    first: Option<Timestamp>,
    ticks: u64,
}

/// The thread that writes.
struct Writer {
    batches: SyncSender<Vec<RawTable>>,
    thread: JoinHandle<Written>,
}

/// What the writer did.
#[derive(Default)]
struct Written {
    bytes: u64,
    errors: Vec<StoreError>,
}

/// Batches that may wait for the disk: with the default flush, a minute of samples.
const WAITING_BATCHES: usize = 12;
/// After a power cut at most this much is lost, unlike after a crash of the process.
const SYNC_EVERY: Duration = Duration::from_secs(60);
const RETAIN_EVERY: Duration = Duration::from_secs(600);

impl Recording {
    /// Opens the dataset and gets ready to sample. The calling thread must be the one that made the sampler.
    pub fn start(
        folder: &Path,
        origin: Origin,
        sampler: Sampler,
        schedule: Schedule,
        limits: Limits,
    ) -> anyhow::Result<Recording> {
        let every = origin.every.unwrap_or(Span::SECOND);
        let recorder = Recorder::open(folder, origin)?;
        let (bell, rope) = Bell::hang().context("signals")?;
        let writer = Writer::start(recorder, folder, limits, rope)?;
        let (batch, components) = (Batch::default(), BTreeMap::new());
        Ok(Recording {
            every,
            sampler,
            schedule,
            batch,
            flush: limits.flush,
            dropped: 0,
            components,
            writer,
            bell,
        })
    }

    /// Samples until told to stop, or for a while.
    pub fn run(mut self, duration: Option<Span>, quiet: bool) -> anyhow::Result<Summary> {
        let begin = host::now();
        let end = duration.map(|d| begin.uptime.micros().saturating_add(d.micros()));
        let bar = bar(duration, quiet);
        loop {
            let now = host::now();
            let left = end.map_or(Span::DAY, |end| Span::from_micros(end - now.uptime.micros()));
            if left < Span::ZERO {
                break;
            }
            match self.schedule.next(now) {
                Step::Sample(_) => self.sample(now, &bar),
                Step::Sleep(span) if self.bell.rings_within(span.min(left + A_MOMENT)) => break,
                Step::Sleep(_) => {}
            }
            bar.set_position((now.uptime.micros() - begin.uptime.micros()).unsigned_abs() / 1_000_000);
        }
        bar.finish_and_clear();
        self.finish()
    }

    fn sample(&mut self, now: Moment, bar: &ProgressBar) {
        if self.batch.belongs_to_an_earlier_file(now.time) {
            self.hand_over();
        }
        self.sampler.sample(now);
        for report in self.sampler.take_reports() {
            bar.suspend(|| tell(report));
        }
        for table in self.sampler.tables() {
            self.batch.add(table);
            let seen = self.components.entry(table.schema().name).or_default();
            *seen = (*seen).max(table.names().len());
        }
        let clock = self.clock();
        if self.sampler.accounts_due(now, clock) {
            self.batch.add(self.sampler.account(now, clock));
        }
        self.batch.end_tick(now.time);
        if self.batch.is_due(now.time + self.every, self.flush) {
            self.hand_over();
        }
    }

    fn clock(&self) -> ClockAccount {
        let account = self.schedule.account();
        ClockAccount { ticks: account.ticks - self.dropped, missed: account.missed + self.dropped, ..account }
    }

    /// Gives the batch to the writer; while the writer is stuck it goes on growing, up to a bound.
    fn hand_over(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        let (ticks, first) = (batch.ticks, batch.first);
        match self.writer.batches.try_send(batch.tables.into_values().collect()) {
            Ok(()) => {}
            Err(TrySendError::Full(tables)) if ticks < MOST_TICKS_IN_MEMORY => {
                let tables = tables.into_iter().map(|t| (t.schema().name, t)).collect();
                self.batch = Batch { tables, first, ticks };
            }
            Err(_) => self.dropped += ticks,
        }
    }

    fn finish(mut self) -> anyhow::Result<Summary> {
        let now = host::now();
        let clock = self.clock();
        self.batch.add(self.sampler.account(now, clock));
        let last = std::mem::take(&mut self.batch);
        let components = self.components.values().sum();
        // A writer that has stopped has said why.
        let _ = self.writer.batches.send(last.tables.into_values().collect());
        let written = self.writer.finish()?;
        Ok(Summary { clock, components, bytes: written.bytes, errors: written.errors })
    }
}

/// To be past an end, not just at it.
const A_MOMENT: Span = Span::from_micros(100);
/// About ten minutes at one sample a second.
const MOST_TICKS_IN_MEMORY: u64 = 600;

impl Batch {
    /// Whether its first rows would be older than `flush` at the next sample.
    fn is_due(&self, next: Timestamp, flush: Span) -> bool {
        self.first.is_some_and(|first| next - first >= flush)
    }

    /// Whether a new file begins with a sample at `now`, or the clock was set back.
    fn belongs_to_an_earlier_file(&self, now: Timestamp) -> bool {
        self.first.is_some_and(|first| now < first || now >= next_cycle(first))
    }

    fn add(&mut self, rows: &RawTable) {
        let table = self.tables.entry(rows.schema().name).or_insert_with(|| RawTable::new(rows.schema()));
        table.append(rows);
    }

    fn end_tick(&mut self, time: Timestamp) {
        self.first.get_or_insert(time);
        self.ticks += 1;
    }
}

impl Writer {
    fn start(recorder: Recorder, folder: &Path, limits: Limits, rope: Rope) -> anyhow::Result<Writer> {
        let (sender, batches) = sync_channel(WAITING_BATCHES);
        let desk = Desk { recorder, folder: folder.into(), limits, written: Written::default() };
        let work = move || {
            let written = desk.run(batches);
            rope.pull();
            written
        };
        let thread = std::thread::Builder::new().name("writer".into()).spawn(work)?;
        Ok(Writer { batches: sender, thread })
    }

    fn finish(self) -> anyhow::Result<Written> {
        drop(self.batches);
        self.thread.join().map_err(|_| anyhow::anyhow!("the writer failed: this is a bug in laggard"))
    }
}

/// Where the writer works.
struct Desk {
    recorder: Recorder,
    folder: PathBuf,
    limits: Limits,
    written: Written,
}

impl Desk {
    /// Writes batches until there are no more, or one cannot be written.
    fn run(mut self, batches: Receiver<Vec<RawTable>>) -> Written {
        let (mut synced, mut retained) = (std::time::Instant::now(), std::time::Instant::now());
        for batch in batches {
            let sync = synced.elapsed() >= SYNC_EVERY;
            if let Err(error) = self.write(&batch, sync) {
                tell(&error);
                self.written.errors.push(error);
                break;
            }
            if sync {
                synced = std::time::Instant::now();
            }
            if retained.elapsed() >= RETAIN_EVERY {
                retain(&self.folder, self.limits);
                retained = std::time::Instant::now();
            }
            self.written.note(self.recorder.sealed());
        }
        self.close()
    }

    fn write(&mut self, batch: &[RawTable], sync: bool) -> Result<(), StoreError> {
        for table in batch {
            self.recorder.append(table)?;
        }
        if sync { self.recorder.sync() } else { self.recorder.flush() }
    }

    fn close(self) -> Written {
        let Desk { recorder, folder, limits, mut written } = self;
        let outcomes = recorder.close();
        // After a failure sealing fails for the same reason. The tails stay, and the next start seals them.
        if written.errors.is_empty() {
            written.note(outcomes);
        }
        retain(&folder, limits);
        written
    }
}

fn retain(folder: &Path, limits: Limits) {
    let (max_age, max_bytes) = (limits.keep, limits.keep_bytes);
    if max_age.is_none() && max_bytes.is_none() {
        return;
    }
    let dataset = Dataset::in_folder(folder);
    if let Err(error) = dataset.retain(Retention { max_age, max_bytes }, host::now().time) {
        tell(&error);
    }
}

impl Written {
    fn note(&mut self, outcomes: Vec<Result<Sealed, StoreError>>) {
        for outcome in outcomes {
            match outcome {
                Ok(sealed) => {
                    self.bytes += sealed.path.and_then(|p| p.metadata().ok()).map_or(0, |m| m.len())
                }
                Err(error) => {
                    tell(&error);
                    self.errors.push(error);
                }
            }
        }
    }
}

impl Summary {
    /// Whether everything that was sampled is in the dataset.
    pub fn is_complete(&self) -> bool {
        self.errors.is_empty()
    }
}

fn bar(duration: Option<Span>, quiet: bool) -> ProgressBar {
    match duration {
        Some(duration) if !quiet => progress::over_seconds(duration.seconds().ceil() as u64),
        _ => ProgressBar::hidden(),
    }
}
