//! `sadf -d`: values separated by `;`, one activity after the other, each under a line that heads its columns.

use std::io::BufRead;

use laggard_core::model::schema::Schema;
use laggard_core::model::time::Timestamp;

use super::moment::Moment;
use super::samples::Samples;
use crate::printed::column::{Row, Target};
use crate::printed::line::{BadLines, Lines};
use crate::reading::{Place, ReadError, Sink};

/// Activities that share a table (what an interface carries, and its errors) stand far apart in the file, so
/// rows are kept for a day's worth of a well-equipped host before they are handed over incomplete.
const ROWS_KEPT: usize = 1 << 20;

/// Whether a text begins like such a file: with a heading, or with a restart.
pub fn recognises(start: &str) -> bool {
    let is_heading = |line: &str| line.starts_with("# hostname;interval;timestamp");
    start.lines().any(is_heading) || start.lines().next().is_some_and(|line| line.contains(";LINUX-RESTART"))
}

/// Reads lines.
pub fn read(input: &mut dyn BufRead, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut reader = Reader { samples: Samples::new(sink, ROWS_KEPT), heading: None, bad: BadLines::default() };
    let read = reader.lines(Lines::new(input));
    let told = reader.bad.settle(&mut reader.samples.gathering, "lines of sadf -d with samples of disks or networks");
    reader.samples.finish_after(read.and(told))
}

struct Reader<'s> {
    samples: Samples<'s>,
    heading: Option<Heading>,
    bad: BadLines,
}

/// What the columns of an activity hold.
struct Heading {
    /// None for an activity that is of no use here.
    schema: Option<&'static Schema>,
    /// A component's name stands before the values.
    is_named: bool,
    targets: Vec<Option<Target>>,
}

impl Reader<'_> {
    fn lines(&mut self, mut lines: Lines<'_>) -> Result<(), ReadError> {
        while lines.advance()? {
            let text = lines.text();
            if !lines.is_whole() {
                self.bad.add(lines.number(), &text);
            } else if let Some(heading) = text.strip_prefix('#') {
                self.heading = Some(Heading::read(heading, lines.number())?);
            } else if !text.trim().is_empty() && self.line(&text).is_none() {
                self.bad.add(lines.number(), &text);
            }
            self.samples.gathering.settle()?;
        }
        Ok(())
    }

    /// A line with values, or with a remark; none if it cannot be read.
    fn line(&mut self, text: &str) -> Option<()> {
        let mut fields = text.split(';');
        let (host, interval, time) = (fields.next()?, fields.next()?, fields.next()?);
        let mut moment = moment(time);
        self.samples.host(host);
        if interval == "-1" {
            return self.remark(moment, fields.next()?);
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

    fn values<'f>(&mut self, time: Timestamp, mut fields: impl Iterator<Item = &'f str>) -> Option<()> {
        let heading = self.heading.as_ref()?;
        let Some(schema) = heading.schema else { return Some(()) };
        let component = if heading.is_named { fields.next()? } else { "" };
        let mut row = Row::new(schema);
        for target in &heading.targets {
            let text = fields.next()?;
            if target.is_some_and(|target| !row.set_text(target, text)) {
                return None;
            }
        }
        if fields.next().is_some() {
            return None;
        }
        self.samples.push(schema, time, component, row);
        Some(())
    }
}

impl Heading {
    fn read(text: &str, line: u64) -> Result<Heading, ReadError> {
        if text.contains("[...]") {
            let found = "all activities side by side, as sadf -h prints them";
            return Err(ReadError::content(Place::Line(line), "one activity after the other (sadf -d)", found));
        }
        let columns: Vec<&str> = text.trim().split(';').skip(3).collect();
        let schema = activity(&columns);
        let is_named = matches!(columns.first(), Some(&("DEV" | "IFACE")));
        let target = |name: &&str| Target::named(schema?, name);
        let targets = columns.iter().skip(usize::from(is_named)).map(target).collect();
        Ok(Heading { schema, is_named, targets })
    }
}

/// The table for an activity, known by a column that only it has (NFS has a `retrans/s` as well as TCP).
fn activity(columns: &[&str]) -> Option<&'static Schema> {
    let marks = [
        ("DEV", "disk_rates"),
        ("IFACE", "net_rates"),
        ("atmptf/s", "tcp_rates"),
        ("%sio", "pressure_rates"),
        ("%smem", "pressure_rates"),
        ("%scpu", "pressure_rates"),
    ];
    marks.iter().find(|(mark, _)| columns.contains(mark)).and_then(|(_, table)| Schema::named(table))
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

/// `	(2 CPU)`.
fn processors(text: &str) -> Option<f64> {
    text.trim().strip_prefix('(')?.split(' ').next()?.parse().ok()
}
