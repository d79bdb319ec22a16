//! Reads the lines of a trace.

use std::io::Read;

use super::line::parsed;
use super::payload;
use crate::formats::number::{after, decimal};
use crate::reading::{Lines, Place, ReadError};
use crate::tracepoints::{Comm, Payload, Tracepoint};

/// What became of the lines.
#[derive(Debug, Default)]
pub struct Tally {
    /// Lines that are no events at all.
    pub dropped: u64,
    /// The first of them.
    pub first_dropped: Option<ReadError>,
    /// Events of kinds that say nothing about I/O.
    pub passed_by: u64,
    /// Events that the kernel overwrote before they were read.
    pub overwritten: u64,
}

/// Reads lines and gives what is known of them, until `sink` has an error.
pub fn read(
    text: impl Read,
    sink: &mut dyn FnMut(&Tracepoint) -> Result<(), ReadError>,
) -> (Tally, Result<(), ReadError>) {
    let mut lines = Lines::new(text);
    let mut tally = Tally::default();
    loop {
        let number = lines.number() + 1;
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => return (tally, Ok(())),
            Err(error) => return (tally, Err(ReadError::Io { place: Place::Line(number), error })),
        };
        match point(line, &mut tally) {
            Found::Point(point) => {
                if let Err(error) = sink(&point) {
                    return (tally, Err(error));
                }
            }
            Found::Nothing => {}
            Found::PassedBy => tally.passed_by += 1,
            Found::Garbage => {
                tally.dropped += 1;
                let expected = "a line like `fio-18080 [001] ..... 1301.842804: block_rq_issue: ...`";
                tally
                    .first_dropped
                    .get_or_insert_with(|| ReadError::quoting(Place::Line(number), expected, line));
            }
        }
    }
}

enum Found {
    Point(Tracepoint),
    PassedBy,
    Garbage,
    Nothing,
}

fn point(line: &[u8], tally: &mut Tally) -> Found {
    if line.starts_with(b"#") {
        tally.overwritten += overwritten(line).unwrap_or(0);
        return Found::Nothing;
    }
    let Some(parsed) = parsed(line) else {
        return match (lost(line), line.trim_ascii().is_empty() || line.starts_with(b"cpus=")) {
            (Some(point), _) => Found::Point(point),
            (None, true) => Found::Nothing,
            (None, false) => Found::Garbage,
        };
    };
    match payload::of(parsed.event) {
        Some(payload) => Found::Point(Tracepoint {
            ts_ns: parsed.ts_ns,
            cpu: parsed.cpu,
            tid: parsed.tid,
            tgid: parsed.tgid,
            comm: parsed.comm,
            payload,
        }),
        None => Found::PassedBy,
    }
}

/// `# entries-in-buffer/entries-written: 90252/91000   #P:2`
fn overwritten(line: &[u8]) -> Option<u64> {
    let (kept, rest) = decimal(after(line, b"entries-in-buffer/entries-written: ")?)?;
    let (written, _) = decimal(rest.strip_prefix(b"/")?)?;
    Some(written.saturating_sub(kept))
}

/// `CPU:1 [LOST 123 EVENTS]`
fn lost(line: &[u8]) -> Option<Tracepoint> {
    let (cpu, rest) = decimal(line.trim_ascii_start().strip_prefix(b"CPU:")?)?;
    let rest = rest.trim_ascii_start().strip_prefix(b"[LOST ")?;
    let events = decimal(rest).map_or(0, |(events, _)| events);
    Some(Tracepoint {
        ts_ns: 0,
        cpu: u16::try_from(cpu).ok()?,
        tid: 0,
        tgid: None,
        comm: Comm::default(),
        payload: Payload::Lost { events },
    })
}
