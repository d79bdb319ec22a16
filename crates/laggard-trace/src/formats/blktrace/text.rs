//! The default output of blkparse: a line per record, and a summary.

use std::io::Read;

use super::action;
use crate::formats::ReadCounts;
use crate::formats::number::{decimal, number, seconds};
use crate::tracepoints::{BlockFields, BlockStep, Comm, Device, Payload, Rwbs, Tracepoint};
use laggard_input::{Lines, ReadError};

const EXPECTED: &str = "a line like `8,0 1 12 0.003924455 18180 Q WS 32770 + 256 [fio]`";

pub(crate) fn recognises(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).take(4);
    lines.any(|line| !is_summary(line) && fields(line).is_some())
}

/// Reads until the end or until `sink` returns an error. Skips the summary at the end.
pub(crate) fn read(
    text: impl Read,
    counts: &mut ReadCounts,
    sink: &mut dyn FnMut(Tracepoint) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut lines = Lines::new(text);
    let mut is_in_summary = false;
    while let Some(line) = lines.read_line()? {
        let (place, line) = (line.place(), line.bytes);
        if is_summary(line) {
            is_in_summary = true;
            continue;
        }
        match fields(line) {
            Some(Some(point)) => {
                is_in_summary = false;
                counts.read += 1;
                sink(point)?;
            }
            Some(None) => counts.read += 1,
            None if is_in_summary || line.trim_ascii().is_empty() => {}
            None => counts.drop_one(place, EXPECTED, line),
        }
    }
    Ok(())
}

fn is_summary(line: &[u8]) -> bool {
    line.starts_with(b"CPU") || line.starts_with(b"Total (") || line.starts_with(b"Throughput (")
}

/// The next token and the rest.
fn token(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start();
    let end = memchr::memchr(b' ', text).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// `  7,6    1        0     0.003924455 18180  Q  WS 32770 + 256 [fio]`. `Some(None)` for plugs and other
/// irrelevant actions.
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
    // A flush has no sector.
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
