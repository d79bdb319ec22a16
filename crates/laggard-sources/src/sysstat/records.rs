//! The records after the list of activities: one per sample, until the file ends.

use laggard_core::model::time::{Timestamp, Uptime};
use laggard_input::{Place, ReadError};

use super::activity::{self, Activity, MAX_ITEMS};
use super::bytes::{Bytes, Part};
use super::clock::{Clock, RecordTime};
use super::format::Restart;
use super::header::{Header, PLAUSIBLE_SECONDS};
use super::known_activities::{CPU_ID, Plan};
use super::layout::{Slot, text};
use super::rows::{Moment, Piece, Rows};
use crate::sink::{Note, Sink};

const STATISTICS: u8 = 1;
const RESTART: u8 = 2;
/// Statistics, the last of a file before the next day's.
const LAST_STATISTICS: u8 = 3;
const COMMENT: u8 = 4;
/// The last record type that contains only extensions.
const LAST_EXTENSION: u8 = 15;

const COMMENT_BYTES: usize = 64;

/// The description of an extension: number of structs, their size, flag for another description, field groups.
const EXTENSION_BYTES: usize = 24;
const MAX_EXTENSIONS: u32 = 8192;
const MAX_EXTENSION_BYTES: u32 = 1024;

/// Items are read in pieces, since a damaged count may claim gigabytes.
const PIECE_BYTES: usize = 64 * 1024;

pub(super) struct Records<'a, 'b> {
    bytes: &'a mut Bytes<'b>,
    header: &'a Header,
    activities: Vec<Activity>,
    clock: Clock,
    /// As counted by sysstat: one more than the number of CPUs, for "all".
    cpus: u32,
    has_reconstructed_times: bool,
    record_header: Vec<u8>,
    piece: Vec<u8>,
}

struct Record {
    moment: Moment,
    kind: u8,
    is_extended: bool,
}

impl<'a, 'b> Records<'a, 'b> {
    pub(super) fn new(bytes: &'a mut Bytes<'b>, header: &'a Header, activities: Vec<Activity>) -> Self {
        Records {
            bytes,
            header,
            clock: Clock::new(header.created),
            cpus: activities.iter().find(|a| a.id == CPU_ID).map_or(0, |a| a.items),
            activities,
            has_reconstructed_times: false,
            record_header: vec![0; header.record.size],
            piece: Vec::new(),
        }
    }

    pub(super) fn read(&mut self, rows: &mut Rows, sink: &mut dyn Sink) -> Result<(), ReadError> {
        if self.header.is_extended {
            self.skip_extensions()?;
        }
        while !self.bytes.ended()? {
            let record = self.record(sink)?;
            self.body(&record, rows, sink)?;
        }
        Ok(())
    }

    fn body(&mut self, record: &Record, rows: &mut Rows, sink: &mut dyn Sink) -> Result<(), ReadError> {
        match record.kind {
            RESTART => self.restart(record.moment.time, sink)?,
            COMMENT => self.comment(record.moment.time, sink)?,
            _ => {}
        }
        if record.is_extended {
            self.skip_extensions()?;
        }
        if matches!(record.kind, STATISTICS | LAST_STATISTICS) {
            self.statistics(record.moment, rows, sink)?;
            rows.end_record(sink)?;
        }
        Ok(())
    }

    fn record(&mut self, sink: &mut dyn Sink) -> Result<Record, ReadError> {
        let at = self.bytes.at();
        self.bytes.fill(&mut self.record_header, Part::RecordHeader)?;
        let (uptime, stated, extended) = match self.header.format.describes_itself {
            true => (Slot::Wide(0), Slot::Wide(1), Some(Slot::Int(0))),
            // The first counts the ticks of all CPUs together.
            false => (Slot::Wide(1), Slot::Long(0), None),
        };
        let stated = self.number(stated).unwrap_or(0);
        let (kind, time_of_day) = self.kind_and_time_of_day(at, stated)?;
        let time = self.time(stated, time_of_day, sink);
        let is_extended = extended.and_then(|slot| self.number(slot)).is_some_and(|next| next != 0);
        let uptime = self.number(uptime).and_then(uptime_of_ticks);
        Ok(Record { moment: Moment { time, uptime }, kind, is_extended })
    }

    fn number(&self, slot: Slot) -> Option<u64> {
        let dialect = self.header.dialect;
        dialect.number(&self.record_header, self.header.record.groups.cell(slot, dialect)?)
    }

    /// The record type, and the writer's time of day in seconds.
    fn kind_and_time_of_day(&self, at: u64, stated: u64) -> Result<(u8, i64), ReadError> {
        let rest = self.record_header.get(self.header.record.groups.end(self.header.dialect)..);
        let &[kind, hour, minute, second] = rest.and_then(<[u8]>::first_chunk).unwrap_or(&[0; 4]);
        let last = if self.header.format.describes_itself { LAST_EXTENSION } else { COMMENT };
        let wrong =
            |expected: String, found: String| Err(ReadError::content(Place::Byte(at), expected, found));
        if !(STATISTICS..=last).contains(&kind) {
            return wrong(format!("a record of a type from 1 to {last}"), format!("type {kind}"));
        }
        // A leap second is second 60.
        if hour > 23 || minute > 59 || second > 60 {
            return wrong("a record's time of day".into(), format!("{hour:02}:{minute:02}:{second:02}"));
        }
        if stated < PLAUSIBLE_SECONDS.start {
            return wrong("a record made after 2001".into(), format!("{stated} s after 1970"));
        }
        Ok((kind, i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second)))
    }

    fn time(&mut self, stated: u64, time_of_day: i64, sink: &mut dyn Sink) -> Timestamp {
        match self.clock.next_time(stated, time_of_day) {
            RecordTime::Stated(time) => time,
            RecordTime::Reconstructed(time) => {
                if !self.has_reconstructed_times {
                    let text = "times are damaged from here on: reconstructed from the file's date and the time of day";
                    sink.note(Note { time: Some(time), text: text.to_string() });
                }
                self.has_reconstructed_times = true;
                time
            }
        }
    }

    fn statistics(&mut self, moment: Moment, rows: &mut Rows, sink: &mut dyn Sink) -> Result<(), ReadError> {
        for activity in &self.activities {
            let part = Part::Counters(activity.id);
            let items = match activity.is_counted {
                true => count(self.bytes, self.header, part)?,
                false => activity.items,
            };
            let items = u64::from(items) * u64::from(activity.parts);
            match &activity.plan {
                None => self.bytes.skip(items * u64::from(activity.size), part)?,
                Some(plan) => {
                    let mut pieces = Pieces { bytes: self.bytes, piece: &mut self.piece, plan, part };
                    pieces.read(items as usize, moment, rows, sink)?;
                }
            }
        }
        Ok(())
    }

    fn restart(&mut self, time: Timestamp, sink: &mut dyn Sink) -> Result<(), ReadError> {
        match self.header.format.restart {
            Restart::Bare => {}
            Restart::Cpus => self.cpus = count(self.bytes, self.header, Part::Restart)?,
            Restart::Activities => self.renew_activities()?,
        }
        let text = match self.cpus {
            0..=2 => "restarted, 1 CPU".to_string(),
            cpus => format!("restarted, {} CPUs", cpus - 1),
        };
        sink.note(Note { time: Some(time), text });
        Ok(())
    }

    /// After a restart some activities may have another number of items.
    fn renew_activities(&mut self) -> Result<(), ReadError> {
        let mut entry = vec![0; self.header.activity.size];
        for _ in 0..self.header.volatiles {
            let place = Place::Byte(self.bytes.at());
            self.bytes.fill(&mut entry, Part::Restart)?;
            let (id, items) = activity::renewed(self.header, &entry);
            check_count(place, items)?;
            // Unused entries of the list are zero.
            if id == 0 || items == 0 {
                continue;
            }
            if id == CPU_ID {
                self.cpus = items;
            }
            self.activities.iter_mut().filter(|a| a.id == id).for_each(|a| a.items = items);
        }
        Ok(())
    }

    fn comment(&mut self, time: Timestamp, sink: &mut dyn Sink) -> Result<(), ReadError> {
        let comment: [u8; COMMENT_BYTES] = self.bytes.array(Part::Comment)?;
        sink.note(Note { time: Some(time), text: format!("comment: {}", text(&comment)) });
        Ok(())
    }

    fn skip_extensions(&mut self) -> Result<(), ReadError> {
        loop {
            let place = Place::Byte(self.bytes.at());
            let description: [u8; EXTENSION_BYTES] = self.bytes.array(Part::Extra)?;
            let word = |index: usize| self.header.dialect.int(&description, 4 * index).unwrap_or(0);
            let (number, size, next) = (word(0), word(1), word(2));
            if number > MAX_EXTENSIONS || size > MAX_EXTENSION_BYTES {
                let expected = format!("at most {MAX_EXTENSIONS} extensions of {MAX_EXTENSION_BYTES} bytes");
                return Err(ReadError::content(place, expected, format!("{number} of {size} bytes")));
            }
            self.bytes.skip(u64::from(number) * u64::from(size), Part::Extra)?;
            if next == 0 {
                return Ok(());
            }
        }
    }
}

struct Pieces<'p, 'b> {
    bytes: &'p mut Bytes<'b>,
    piece: &'p mut Vec<u8>,
    plan: &'p Plan,
    part: Part,
}

impl Pieces<'_, '_> {
    fn read(
        &mut self,
        items: usize,
        moment: Moment,
        rows: &mut Rows,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        let at_once = (PIECE_BYTES / self.plan.size).max(1);
        for first in (0..items).step_by(at_once) {
            let number = at_once.min(items - first);
            self.piece.resize(number * self.plan.size, 0);
            self.bytes.fill(self.piece, self.part)?;
            rows.take(self.plan, Piece { moment, first, items: self.piece }, sink)?;
        }
        Ok(())
    }
}

/// The number of items or CPUs, stated before them.
fn count(bytes: &mut Bytes, header: &Header, part: Part) -> Result<u32, ReadError> {
    let place = Place::Byte(bytes.at());
    let word: [u8; 4] = bytes.array(part)?;
    let count = header.dialect.int(&word, 0).unwrap_or(0);
    check_count(place, count)?;
    Ok(count)
}

fn check_count(place: Place, count: u32) -> Result<(), ReadError> {
    if count <= MAX_ITEMS {
        return Ok(());
    }
    let found = count.cast_signed().to_string();
    Err(ReadError::content(place, format!("a number of items from 0 to {MAX_ITEMS}"), found))
}

/// From hundredths of a second. Old formats count ticks of the first CPU, which are 100 per second in user space on all
/// but a few old machines. Restarts and comments have none.
fn uptime_of_ticks(ticks: u64) -> Option<Uptime> {
    let micros = i64::try_from(ticks).ok()?.checked_mul(10_000)?;
    (micros > 0).then_some(Uptime::from_micros(micros))
}
