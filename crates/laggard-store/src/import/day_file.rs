//! The rows of one host, table and day, on their way to one sealed file.
//! In: rows, in the order of recording. Out: a Parquet file. Always: rows are in memory until they make a row
//! group, or until the memory is needed; from then on they wait in a spool, an Arrow stream like a tail.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;
use laggard_core::samples::RawTable;

use crate::error::StoreError;
use crate::format::columns::rows_within;
use crate::format::cycle::{MARGIN, day_of, next_cycle};
use crate::format::origin::Origin;
use crate::import::packer::{Output, Packer};
use crate::live_tail::message::{Compressor, Encoder};
use crate::sealed::parquet_file::{Content, ParquetFile, rows_per_group};
use crate::sealed::seal::pack_behind;

/// A level of zstd that keeps up with reading.
const LEVEL: i32 = 3;
/// Rows of a message in the spool.
const SPOOLED_ROWS: usize = 16 * 1024;
/// Time, uptime, component.
const KEYS: usize = 3;

/// Buffers and threads that the files of an import share.
#[derive(Default)]
pub(crate) struct Tools {
    press: Compressor,
    packer: Packer,
}

/// A sealed file that is not complete yet.
pub(crate) struct DayFile {
    parquet: PathBuf,
    start: Timestamp,
    earliest: i64,
    table: &'static Schema,
    origin: Origin,
    pending: RawTable,
    output: Option<Output>,
    encoder: Encoder,
    has_spool: bool,
}

impl DayFile {
    /// For samples of the day of `start`.
    pub(crate) fn new(parquet: PathBuf, start: Timestamp, table: &'static Schema, origin: &Origin) -> Self {
        DayFile {
            parquet,
            start,
            earliest: start.micros(),
            table,
            origin: origin.clone(),
            pending: RawTable::new(table),
            output: None,
            encoder: Encoder::new(table, origin),
            has_spool: false,
        }
    }

    /// The time of the first sample that was added.
    pub(crate) fn start(&self) -> Timestamp {
        self.start
    }

    /// The time in the file's name: its earliest sample, but not one of the day before.
    pub(crate) fn named_start(&self) -> Timestamp {
        Timestamp::from_micros(self.earliest).max(day_of(self.start))
    }

    /// True if a sample of that time belongs here, if the one before it did.
    pub(crate) fn fits(&self, time: Timestamp) -> bool {
        time >= day_of(self.start) - MARGIN && time < next_cycle(self.start)
    }

    /// The number of first samples that belong here.
    pub(crate) fn run(&self, times: &[i64]) -> usize {
        let fitting = times.iter().take_while(|&&time| self.fits(Timestamp::from_micros(time))).count();
        // The first one was found to belong here, whatever its neighbours do.
        fitting.max(1)
    }

    /// True if a row group has been written straight out of memory, into a file that is open since.
    pub(crate) fn is_open(&self) -> bool {
        self.output.is_some()
    }

    /// The number of values in memory.
    pub(crate) fn held_values(&self) -> usize {
        self.pending.len() * (KEYS + self.table.columns.len())
    }

    /// Adds rows. If no more file may be opened, those of a whole row group go to the spool.
    pub(crate) fn add(
        &mut self,
        rows: RawTable,
        may_open: bool,
        tools: &mut Tools,
    ) -> Result<(), StoreError> {
        let earliest = rows.time.iter().copied().min();
        self.earliest = self.earliest.min(earliest.unwrap_or(i64::MAX));
        let mut from = 0;
        while from < rows.len() {
            let components = self.pending.names().len().max(rows.names().len());
            let to = rows.len().min(from + rows_per_group(components).saturating_sub(self.pending.len()));
            if to - from < rows.len() {
                self.pending.append(&rows_within(&rows, from..to));
            } else if self.pending.is_empty() {
                self.pending = rows;
                return self.advance(may_open, tools);
            } else {
                self.pending.append(&rows);
            }
            from = to;
            self.advance(may_open, tools)?;
        }
        Ok(())
    }

    /// Moves the pending rows on, if there are enough of them.
    fn advance(&mut self, may_open: bool, tools: &mut Tools) -> Result<(), StoreError> {
        let whole_group = rows_per_group(self.pending.names().len());
        let enough = if self.has_spool { SPOOLED_ROWS } else { whole_group };
        if self.pending.len() < enough {
            Ok(())
        } else if !self.has_spool && (may_open || self.is_open()) {
            self.pack(tools)
        } else {
            self.spill(tools)
        }
    }

    fn take_pending(&mut self) -> RawTable {
        std::mem::replace(&mut self.pending, RawTable::new(self.table))
    }

    /// Puts all rows that are in memory on disk, and later rows too. The spool is not kept open: there may be
    /// thousands.
    pub(crate) fn spill(&mut self, tools: &mut Tools) -> Result<(), StoreError> {
        self.has_spool = true;
        let (rows, mut bytes) = (self.take_pending(), Vec::new());
        for from in (0..rows.len()).step_by(SPOOLED_ROWS) {
            let message = rows_within(&rows, from..rows.len().min(from + SPOOLED_ROWS));
            self.encoder
                .encode(&message, &mut tools.press, &mut bytes)
                .map_err(|error| StoreError::broken(&self.parquet, format!("cannot encode rows: {error}")))?;
        }
        let spool = self.spool();
        let file = OpenOptions::new().append(true).create(true).open(&spool);
        let written = file.and_then(|mut file| file.write_all(&bytes));
        written.map_err(|error| StoreError::io(spool, "append to it", error))
    }

    fn spool(&self) -> PathBuf {
        self.parquet.with_extension("arrow")
    }

    /// Writes the pending rows as a row group.
    fn pack(&mut self, tools: &mut Tools) -> Result<(), StoreError> {
        let rows = self.take_pending();
        let content = Content { table: self.table, origin: &self.origin, level: LEVEL };
        let output = match &mut self.output {
            Some(output) => output,
            none => none.insert(Output::create(&self.parquet, content)?),
        };
        tools.packer.pack(output, rows)
    }

    /// Completes the file; returns its path and the number of its rows.
    pub(crate) fn finish(mut self, tools: &mut Tools) -> Result<(PathBuf, u64), StoreError> {
        if !self.pending.is_empty() {
            if self.has_spool { self.spill(tools)? } else { self.pack(tools)? }
        }
        let output = self.output.take().map(|output| tools.packer.finish(&output)).transpose()?;
        match self.has_spool {
            true => self.unspool(output),
            false => Ok((self.parquet, output.map_or(Ok(0), ParquetFile::finish)?)),
        }
    }

    fn unspool(self, output: Option<ParquetFile>) -> Result<(PathBuf, u64), StoreError> {
        let spool = self.spool();
        let packed = pack_behind(output, &spool, &self.parquet, LEVEL)?;
        // The rows should not be on disk twice.
        std::fs::remove_file(&spool).map_err(|error| StoreError::io(&spool, "remove it", error))?;
        Ok((self.parquet, packed.rows))
    }
}
