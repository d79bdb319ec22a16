//! What blkparse prints, in its own form: a line for each record, and a summary.

use std::io::Read;

use super::{Tally, action};
use crate::formats::number::{decimal, number, seconds};
use crate::reading::{Lines, Place, ReadError};
use crate::tracepoints::{BlockFields, BlockStep, Comm, Device, Payload, Rwbs, Tracepoint};

/// Whether a content is such a text.
pub fn recognises(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).take(4);
    lines.any(|line| !matches!(parsed(line), Found::Garbage | Found::Summary))
}

/// Reads lines until `sink` has an error. The summary at the end is passed by.
pub fn read(
    text: impl Read,
    sink: &mut dyn FnMut(Tracepoint) -> Result<(), ReadError>,
) -> (Tally, Result<(), ReadError>) {
    let mut lines = Lines::new(text);
    let mut tally = Tally::default();
    let mut is_summary = false;
    loop {
        let place = Place::Line(lines.number() + 1);
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => return (tally, Ok(())),
            Err(error) => return (tally, Err(ReadError::Io { place, error })),
        };
        match parsed(line) {
            Found::Point(point) => {
                is_summary = false;
                tally.read += 1;
                if let Err(error) = sink(point) {
                    return (tally, Err(error));
                }
            }
            Found::PassedBy => tally.read += 1,
            Found::Summary => is_summary = true,
            Found::Garbage if is_summary || line.trim_ascii().is_empty() => {}
            Found::Garbage => {
                tally.dropped += 1;
                let expected = "a line like `8,0 1 12 0.003924455 18180 Q WS 32770 + 256 [fio]`";
                tally.first_dropped.get_or_insert_with(|| ReadError::quoting(place, expected, line));
            }
        }
    }
}

enum Found {
    Point(Tracepoint),
    PassedBy,
    Summary,
    Garbage,
}

fn parsed(line: &[u8]) -> Found {
    if line.starts_with(b"CPU") || line.starts_with(b"Total (") || line.starts_with(b"Throughput (") {
        return Found::Summary;
    }
    match fields(line) {
        None => Found::Garbage,
        Some(None) => Found::PassedBy,
        Some(Some(point)) => Found::Point(point),
    }
}

/// A token and what follows it.
fn token(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let end = memchr::memchr(b' ', text).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// `  7,6    1        0     0.003924455 18180  Q  WS 32770 + 256 [fio]`; plugs and the like are nothing to us.
fn fields(line: &[u8]) -> Option<Option<Tracepoint>> {
    let (device, rest) = token(line)?;
    let device = device_of(device)?;
    let (cpu, rest) = token(rest)?;
    let (_sequence, rest) = token(rest)?;
    let (time, rest) = token(rest)?;
    let (pid, rest) = token(rest)?;
    let (letter, rest) = token(rest)?;
    let (rwbs, rest) = token(rest)?;
    let ts_ns = seconds(time).filter(|(_, rest)| rest.is_empty())?.0;
    let (cpu, tid) = (u16::try_from(decimal(cpu)?.0).ok()?, u32::try_from(decimal(pid)?.0).ok()?);
    let Some(step) = action::lettered(letter) else { return Some(None) };
    let mut fields = BlockFields { device, rwbs: Rwbs::new(rwbs), ..BlockFields::default() };
    // A flush has no place.
    let (sector, mut rest) = decimal(rest.trim_ascii_start()).unwrap_or((0, rest));
    fields.sector = sector;
    if let Some(tail) = rest.strip_prefix(b" + ") {
        let (sectors, tail) = decimal(tail)?;
        fields.sectors = u32::try_from(sectors).ok()?;
        rest = tail;
    }
    if let Some(tail) = rest.strip_prefix(b" / ") {
        let (other, tail) = decimal(tail)?;
        fields.other_sector = other;
        fields.sectors = u32::try_from(other.saturating_sub(sector)).ok()?;
        rest = tail;
    }
    if let Some(tail) = rest.strip_prefix(b" <- (") {
        let end = memchr::memchr(b')', tail)?;
        fields.other_device = device_of(&tail[..end])?;
        fields.other_sector = decimal(tail[end + 1..].trim_ascii_start())?.0;
    }
    let bracketed = memchr::memchr(b'[', rest).map(|at| &rest[at + 1..]);
    let bracketed = bracketed.map(|text| text.strip_suffix(b"]").unwrap_or(text)).unwrap_or_default();
    let mut comm = Comm::default();
    if matches!(step, BlockStep::Complete | BlockStep::Requeue) {
        fields.error = number(bracketed).map_or(0, |(error, _)| -(error.unsigned_abs().min(4095) as i32));
    } else if bracketed != b"(null)" {
        comm = Comm::new(bracketed);
    }
    Some(Some(Tracepoint { ts_ns, cpu, tid, tgid: None, comm, payload: Payload::Block(step, fields) }))
}

fn device_of(text: &[u8]) -> Option<Device> {
    let (major, rest) = decimal(text)?;
    let (minor, rest) = decimal(rest.strip_prefix(b",")?)?;
    let device = Device { major: u32::try_from(major).ok()?, minor: u32::try_from(minor).ok()? };
    rest.is_empty().then_some(device)
}
