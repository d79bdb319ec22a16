//! The rows of one host, table and day, on their way to one sealed file.
//! In: rows, in the order of recording. Out: a Parquet file. Always: rows are in memory until they make a row
//! group, or until somebody needs the memory; from then on they wait in a spool, an Arrow stream like a tail.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_schema::{ArrowError, SchemaRef};
use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;
use laggard_core::samples::RawTable;

use crate::error::StoreError;
use crate::format::columns::{Names, arrow_schema, lighten, rows_within};
use crate::format::cycle::{MARGIN, day_of, next_cycle};
use crate::format::origin::Origin;
use crate::import::packer::{Output, Packer};
use crate::live_tail::message::{Encoder, Press};
use crate::sealed::bits::Source;
use crate::sealed::group::{Cutter, Group};
use crate::sealed::parquet_file::ParquetFile;
use crate::sealed::seal::{Aim, pack_behind};

/// Rows that are gathered before they are looked at.
const ROWS_AT_ONCE: usize = 16 * 1024;
/// A level of zstd that keeps up with reading.
const LEVEL: i32 = 3;
/// How many values a row group may have that is packed straight out of memory: 44 MiB.
const VALUES_PER_GROUP: usize = 11 << 19;
/// Row groups of a spool do not have to fit into memory as they are.
const SPOOLED: Aim = Aim { rows: 512 * 1024, level: LEVEL };
/// Time, uptime, component.
const KEYS: usize = 3;

/// What the files of an import share.
pub(crate) struct Tools {
    press: Press,
    packer: Packer,
}

impl Default for Tools {
    fn default() -> Self {
        Tools { press: Press::default(), packer: Packer::new(LEVEL) }
    }
}

/// A sealed file in the making.
pub(crate) struct DayFile {
    parquet: PathBuf,
    start: Timestamp,
    earliest: i64,
    schema: SchemaRef,
    pending: RawTable,
    names: Names,
    cutter: Cutter,
    output: Option<Output>,
    encoder: Encoder,
    has_spool: bool,
    /// How many columns the rows in memory have, at most.
    width: usize,
}

impl DayFile {
    /// For samples of the day of `start`.
    pub(crate) fn new(parquet: PathBuf, start: Timestamp, table: &'static Schema, origin: &Origin) -> Self {
        DayFile {
            parquet,
            start,
            earliest: start.micros(),
            schema: arrow_schema(table, origin),
            pending: RawTable::new(table),
            names: Names::default(),
            cutter: Cutter::new(SPOOLED.rows),
            output: None,
            encoder: Encoder::new(table, origin),
            has_spool: false,
            width: KEYS,
        }
    }

    /// The first sample that came.
    pub(crate) fn start(&self) -> Timestamp {
        self.start
    }

    /// The time in the file's name: its earliest sample, but not one of the day before.
    pub(crate) fn named_start(&self) -> Timestamp {
        Timestamp::from_micros(self.earliest).max(day_of(self.start))
    }

    /// Whether a sample may be of this day, however the clock was set.
    pub(crate) fn fits(&self, time: Timestamp) -> bool {
        time >= day_of(self.start) - MARGIN && time < next_cycle(self.start)
    }

    /// How many of the first samples belong here.
    pub(crate) fn run(&self, times: &[i64]) -> usize {
        let fitting = times.iter().take_while(|&&time| self.fits(Timestamp::from_micros(time))).count();
        // The first one was found to belong here, whatever its neighbours do.
        fitting.max(1)
    }

    /// Whether it has made a row group straight out of memory, into a file that is open since.
    pub(crate) fn is_open(&self) -> bool {
        self.output.is_some()
    }

    /// How many values are in memory.
    pub(crate) fn held_values(&self) -> usize {
        self.pending.len() * self.schema.fields().len() + self.cutter.waiting() * self.width
    }

    /// Takes in rows. If no more file may be opened, those of a whole row group go to the spool.
    pub(crate) fn add(
        &mut self,
        rows: RawTable,
        may_open: bool,
        tools: &mut Tools,
    ) -> Result<(), StoreError> {
        let earliest = rows.time.iter().copied().min();
        self.earliest = self.earliest.min(earliest.unwrap_or(i64::MAX));
        match self.pending.is_empty() {
            true => self.pending = rows,
            false => self.pending.append(&rows),
        }
        if self.pending.len() < ROWS_AT_ONCE { Ok(()) } else { self.advance(may_open, tools) }
    }

    fn take_pending(&mut self) -> RawTable {
        let none = RawTable::new(self.pending.schema());
        std::mem::replace(&mut self.pending, none)
    }

    /// Moves the pending rows on.
    fn advance(&mut self, may_open: bool, tools: &mut Tools) -> Result<(), StoreError> {
        let mut rows = self.take_pending();
        if self.has_spool {
            return self.write(&rows, tools);
        }
        self.width = self.width.max(KEYS + lighten(&mut rows));
        self.cutter.aim(SPOOLED.rows.min(VALUES_PER_GROUP / self.width));
        let keys = self.names.column(&rows).map_err(|error| self.cannot_encode(error))?;
        for group in self.cutter.add(&Source::Memory(Arc::new(rows)), &keys) {
            match self.has_spool || !(may_open || self.is_open()) {
                true => self.spill_group(&group, tools)?,
                false => self.pack(group, tools)?,
            }
        }
        if self.has_spool { self.spill(tools) } else { Ok(()) }
    }

    /// Puts all rows that are in memory on disk, and those that come later too.
    pub(crate) fn spill(&mut self, tools: &mut Tools) -> Result<(), StoreError> {
        let group = self.cutter.finish();
        self.spill_group(&group, tools)?;
        let rows = self.take_pending();
        self.write(&rows, tools)
    }

    fn spill_group(&mut self, group: &Group, tools: &mut Tools) -> Result<(), StoreError> {
        self.has_spool = true;
        group.in_memory().try_for_each(|(rows, range)| self.write(&rows_within(rows, range), tools))
    }

    /// Writes rows to the spool. The file is not kept open: there may be thousands.
    fn write(&mut self, rows: &RawTable, tools: &mut Tools) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        let encoded = self.encoder.encode(rows, &mut tools.press, &mut bytes);
        encoded.map_err(|error| self.cannot_encode(error))?;
        let spool = self.spool();
        let file = OpenOptions::new().append(true).create(true).open(&spool);
        let written = file.and_then(|mut file| file.write_all(&bytes));
        written.map_err(|error| StoreError::io(spool, "append to it", error))
    }

    fn spool(&self) -> PathBuf {
        self.parquet.with_extension("arrow")
    }

    fn cannot_encode(&self, error: ArrowError) -> StoreError {
        StoreError::broken(&self.parquet, format!("cannot encode rows: {error}"))
    }

    fn pack(&mut self, group: Group, tools: &mut Tools) -> Result<(), StoreError> {
        let output = match &mut self.output {
            Some(output) => output,
            none => none.insert(Output::create(&self.parquet, self.schema.clone())?),
        };
        tools.packer.pack(output, group)
    }

    /// Completes the file; gives its path and the number of its rows.
    pub(crate) fn finish(mut self, tools: &mut Tools) -> Result<(PathBuf, u64), StoreError> {
        self.advance(true, tools)?;
        if !self.has_spool {
            let last = self.cutter.finish();
            if last.rows() > 0 {
                self.pack(last, tools)?;
            }
        }
        let output = self.output.take().map(|output| tools.packer.finish(&output)).transpose()?;
        match self.has_spool {
            true => self.unspool(output),
            false => Ok((self.parquet, output.map_or(Ok(0), ParquetFile::finish)?)),
        }
    }

    fn unspool(self, output: Option<ParquetFile>) -> Result<(PathBuf, u64), StoreError> {
        let spool = self.spool();
        let packed = pack_behind(output, &spool, &self.parquet, SPOOLED)?;
        // The workshop should not hold everything twice.
        std::fs::remove_file(&spool).map_err(|error| StoreError::io(&spool, "remove it", error))?;
        Ok((self.parquet, packed.rows))
    }
}
