//! The record loop: samples on the time grid, and hands batches to the writer thread.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, anyhow};
use indicatif::ProgressBar;
use laggard_core::model::time::Span;
use laggard_sources::live::clock::{ClockAccount, Moment, Schedule, Step};
use laggard_sources::live::host;
use laggard_sources::live::sampler::Sampler;
use laggard_store::{Batch, Dataset, Origin, Recorder, Retention, StoreError, WriterThread};

use crate::failure::tell;
use crate::progress;
use crate::stop_signal::StopSignal;

pub(crate) struct Recording {
    sampler: Sampler,
    schedule: Schedule,
    batch: Batch,
    flush: Span,
    every: Span,
    /// Samples that were discarded because the disk did not keep up.
    dropped: u64,
    /// The number of components seen, per table.
    components: BTreeMap<&'static str, usize>,
    writer: WriterThread,
    stop: StopSignal,
}

#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) clock: ClockAccount,
    pub(crate) components: usize,
    /// The size of the sealed files.
    pub(crate) bytes: u64,
    errors: Vec<StoreError>,
}

impl Summary {
    pub(crate) fn is_complete(&self) -> bool {
        self.errors.is_empty()
    }
}

impl Recording {
    /// Opens the dataset. The calling thread must be the one that made the sampler.
    pub(crate) fn start(
        folder: &Path,
        origin: Origin,
        sampler: Sampler,
        schedule: Schedule,
        flush: Span,
        retention: Retention,
    ) -> anyhow::Result<Recording> {
        let every = origin.every.unwrap_or(Span::SECOND);
        let recorder = Recorder::open(folder, origin)?;
        let (stop, handle) = StopSignal::install().context("signals")?;
        let (now, report) = (|| host::now().time, |error: &StoreError| tell(error));
        let dataset = Dataset::in_folder(folder);
        let writer = WriterThread::start(recorder, dataset, retention, now, report, || handle.stop())?;
        let (batch, components) = (Batch::default(), BTreeMap::new());
        Ok(Recording { sampler, schedule, batch, flush, every, dropped: 0, components, writer, stop })
    }

    /// Samples until a signal arrives or `duration` is over.
    pub(crate) fn run(mut self, duration: Option<Span>, quiet: bool) -> anyhow::Result<Summary> {
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
                Step::Sleep(span) if self.stop.arrives_within(span.min(left + BEYOND_END)) => break,
                Step::Sleep(_) => {}
            }
            bar.set_position((now.uptime.micros() - begin.uptime.micros()).unsigned_abs() / 1_000_000);
        }
        bar.finish_and_clear();
        self.finish()
    }

    fn sample(&mut self, now: Moment, bar: &ProgressBar) {
        if self.batch.belongs_to_earlier_file(now.time) {
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

    fn hand_over(&mut self) {
        self.dropped += self.writer.hand_over(&mut self.batch);
    }

    fn clock(&self) -> ClockAccount {
        let account = self.schedule.account();
        ClockAccount { ticks: account.ticks - self.dropped, missed: account.missed + self.dropped, ..account }
    }

    fn finish(mut self) -> anyhow::Result<Summary> {
        let clock = self.clock();
        self.batch.add(self.sampler.account(host::now(), clock));
        let written = self.writer.finish(self.batch);
        let written = written.map_err(|_| anyhow!("the writer thread panicked: this is a bug in laggard"))?;
        let components = self.components.values().sum();
        Ok(Summary { clock, components, bytes: written.bytes, errors: written.errors })
    }
}

/// Sleeping exactly until the end might wake up just before it.
const BEYOND_END: Span = Span::from_micros(100);

fn bar(duration: Option<Span>, quiet: bool) -> ProgressBar {
    match duration {
        Some(duration) if !quiet => progress::over_seconds(duration.seconds().ceil() as u64),
        _ => ProgressBar::hidden(),
    }
}
