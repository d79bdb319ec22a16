//! Reads the lines of a trace.

use std::io::Read;

use super::line::parsed;
use super::payload;
use crate::formats::ReadCounts;
use crate::formats::number::{after, decimal};
use crate::tracepoints::{Comm, Payload, Tracepoint};
use laggard_input::{Lines, ReadError};

const EXPECTED: &str = "a line like `fio-18080 [001] ..... 1301.842804: block_rq_issue: ...`";

/// Reads until the end or until `sink` returns an error.
pub(crate) fn read(
    text: impl Read,
    counts: &mut ReadCounts,
    sink: &mut dyn FnMut(&Tracepoint) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut lines = Lines::new(text);
    while let Some(line) = lines.read_line()? {
        let place = line.place();
        let line = line.bytes;
        if line.starts_with(b"#") {
            counts.lost += overwritten(line).unwrap_or(0);
        } else if let Some(parsed) = parsed(line) {
            let Some(payload) = payload::of(parsed.event) else {
                counts.ignored += 1;
                continue;
            };
            sink(&Tracepoint {
                ts_ns: parsed.ts_ns,
                cpu: parsed.cpu,
                tid: parsed.tid,
                tgid: parsed.tgid,
                comm: parsed.comm,
                payload,
            })?;
        } else if let Some(point) = lost(line) {
            sink(&point)?;
        } else if !line.trim_ascii().is_empty() && !line.starts_with(b"cpus=") {
            counts.drop_one(place, EXPECTED, line);
        }
    }
    Ok(())
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
