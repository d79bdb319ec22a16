//! `sadf -d`: values separated by `;`, one activity after the other, each after a line with its columns.

use std::io::BufRead;

use laggard_core::model::time::Timestamp;
use laggard_input::{Lines, Place, ReadError};

use super::moment::Moment;
use super::samples::Samples;
use crate::sink::{ROWS_PER_PIECE, Sink};
use crate::sysstat_text::bad_lines::BadLines;
use crate::sysstat_text::column::{RateTable, Row, Target};

/// Activities of one table (an interface's traffic and its errors) are far apart in the file, so rows are kept until
/// the other activity follows. This is enough for one day at 1 s of a large host.
const ROWS_KEPT: usize = 1 << 20;

/// True if the text has a heading, or begins with a restart.
pub fn recognises(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n');
    let is_restart = |line| memchr::memmem::find(line, b";LINUX-RESTART").is_some();
    let is_heading = |line: &[u8]| line.starts_with(b"# hostname;interval;timestamp");
    lines.clone().next().is_some_and(is_restart) || lines.any(is_heading)
}

pub fn read(input: &mut dyn BufRead, sink: &mut dyn Sink) -> Result<(), ReadError> {
    read_keeping(ROWS_KEPT, input, sink)
}

/// Keeps `rows` rows of a table that may still be completed.
pub(super) fn read_keeping(
    rows: usize,
    input: &mut dyn BufRead,
    sink: &mut dyn Sink,
) -> Result<(), ReadError> {
    let samples = Samples::new(sink);
    let bad = BadLines::default();
    let mut reader = Reader { samples, heading: None, rows_kept: rows, overflown: Vec::new(), bad };
    let read = reader.lines(Lines::new(input));
    let noted = reader.bad.settle(&mut reader.samples.row_buffer, EXPECTED);
    reader.samples.finish_after(read.and(noted))
}

const EXPECTED: &str = "lines of sadf -d with samples of disks, interfaces, TCP or pressure";

struct Reader<'s> {
    samples: Samples<'s>,
    heading: Option<Heading>,
    rows_kept: usize,
    /// Activities with more rows than can be kept: others can no longer complete these.
    overflown: Vec<Heading>,
    bad: BadLines,
}

#[derive(Clone, PartialEq)]
struct Heading {
    /// None for an activity without a table.
    table: Option<RateTable>,
    /// The name of a component precedes the values.
    is_named: bool,
    targets: Vec<Option<Target>>,
}

impl Reader<'_> {
    fn lines(&mut self, mut lines: Lines<&mut dyn BufRead>) -> Result<(), ReadError> {
        while let Some(line) = lines.read_line()? {
            let text = line.text();
            if !line.is_complete {
                self.bad.add_line(&line);
            } else if let Some(heading) = text.strip_prefix('#') {
                let heading = Heading::read(heading, line.place())?;
                self.heading = Some(self.unless_overflown(heading));
            } else if !text.trim().is_empty() {
                match self.line(&text) {
                    Some(Some(slot)) => self.settle(slot)?,
                    Some(None) => {}
                    None => self.bad.add_line(&line),
                }
            }
        }
        Ok(())
    }

    /// Rows with missing values would hide the ones delivered before.
    fn unless_overflown(&mut self, mut heading: Heading) -> Heading {
        let is_late = |before: &Heading| before.table == heading.table && *before != heading;
        if self.overflown.iter().any(is_late) {
            let text = "skipped an activity that follows too late to complete its table (sadf -j prints both together)";
            self.samples.row_buffer.note(None, text);
            heading.table = None;
        }
        heading
    }

    fn settle(&mut self, slot: usize) -> Result<(), ReadError> {
        let Some(heading) = &self.heading else { return Ok(()) };
        let is_shared =
            heading.table.is_some_and(|table| matches!(table, RateTable::Net | RateTable::Pressure));
        let most = if is_shared { self.rows_kept } else { ROWS_PER_PIECE };
        if self.samples.row_buffer.settle_table(slot, most)? && is_shared && !self.overflown.contains(heading)
        {
            self.overflown.push(heading.clone());
        }
        Ok(())
    }

    /// The slot of the row, if the line has one; None if the line cannot be read.
    fn line(&mut self, text: &str) -> Option<Option<usize>> {
        let mut fields = text.split(';');
        let (host, interval, time) = (fields.next()?, fields.next()?, fields.next()?);
        let mut moment = moment(time);
        self.samples.host(host);
        if interval == "-1" {
            return self.remark(moment, fields.next()?).map(|()| None);
        }
        moment.interval = interval.parse().ok();
        self.samples.begin(&moment);
        self.values(moment.instant()?.0, fields)
    }

    fn remark(&mut self, mut moment: Moment, text: &str) -> Option<()> {
        match text.strip_prefix("COM") {
            Some(comment) => moment.com = Some(comment.trim().into()),
            None => moment.cpu_count = processors(text.strip_prefix("LINUX-RESTART")?),
        }
        self.samples.remark(&moment);
        Some(())
    }

    fn values<'f>(
        &mut self,
        time: Timestamp,
        mut fields: impl Iterator<Item = &'f str>,
    ) -> Option<Option<usize>> {
        let heading = self.heading.as_ref()?;
        let Some(table) = heading.table else { return Some(None) };
        let component = if heading.is_named { fields.next()? } else { "" };
        let mut row = Row::new(table);
        for target in &heading.targets {
            let text = fields.next()?;
            if target.is_some_and(|target| !row.set_text(target, text)) {
                return None;
            }
        }
        if fields.next().is_some() {
            return None;
        }
        Some(self.samples.push(table, time, component, row))
    }
}

impl Heading {
    fn read(text: &str, place: Place) -> Result<Heading, ReadError> {
        if text.contains("[...]") {
            let found = "all activities side by side, as sadf -h prints them";
            return Err(ReadError::content(place, "one activity after the other (sadf -d)", found));
        }
        let columns: Vec<&str> = text.trim().split(';').skip(3).collect();
        let table = activity(&columns);
        let is_named = matches!(columns.first(), Some(&("DEV" | "IFACE")));
        let target = |name: &&str| Target::named(table?, name);
        let targets = columns.iter().skip(usize::from(is_named)).map(target).collect();
        Ok(Heading { table, is_named, targets })
    }
}

/// The table of an activity, determined by a column that only it has (NFS has a `retrans/s` as well as TCP).
fn activity(columns: &[&str]) -> Option<RateTable> {
    let marks = [
        ("DEV", RateTable::Disk),
        ("IFACE", RateTable::Net),
        ("atmptf/s", RateTable::Tcp),
        ("%sio", RateTable::Pressure),
        ("%smem", RateTable::Pressure),
        ("%scpu", RateTable::Pressure),
    ];
    marks.iter().find(|(mark, _)| columns.contains(mark)).map(|&(_, table)| table)
}

/// `2026-11-15 19:48:42 UTC`, `2026-11-15 19:48:42` or `1794772122`.
fn moment(text: &str) -> Moment {
    let (text, utc) = match text.strip_suffix(" UTC") {
        Some(text) => (text, 1.0),
        None => (text, 0.0),
    };
    let (date, time) = text.split_once(' ').unwrap_or(("", text));
    Moment { date: date.into(), time: time.into(), utc: Some(utc), ..Moment::default() }
}

/// `(2 CPU)`.
fn processors(text: &str) -> Option<f64> {
    text.trim().strip_prefix('(')?.split(' ').next()?.parse().ok()
}
