//! `--write_lat_log --log_offset=1`: a line for each completed request, with a resolution of 1 ms.

use std::io::Read;

use crate::formats::number::{decimal, hexadecimal};
use crate::formats::{Interval, RequestSink};
use crate::model::{Flags, Layer, NO_OFFSET, Object, Op};
use laggard_input::{Lines, Place, ReadError};

pub(crate) fn recognises(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).take(3).peekable();
    // The last line may be incomplete.
    lines.peek().is_some_and(|line| parsed(line).is_some())
}

struct Line {
    end_ms: u64,
    latency_ns: u64,
    op: Op,
    bytes: u64,
    offset: Option<u64>,
}

/// The file name shows which quantity the log contains: bandwidth logs look the same.
pub(crate) fn read(text: impl Read, name: &str, sink: &mut RequestSink<'_>) -> Result<(), ReadError> {
    let last = name.rsplit('/').next().unwrap_or(name);
    for (mark, what) in [
        ("_bw.", "bandwidth"),
        ("_iops.", "rates"),
        ("_slat.", "submission latencies"),
        ("_clat.", "completion latencies"),
    ] {
        if last.contains(mark) {
            let expected = "the log of total latencies (_lat)";
            return Err(ReadError::quoting(Place::Whole, expected, format!("a log of {what}")));
        }
    }
    let job = job(last);
    let object = Object::Named { name: format!("fio job {job}") };
    let mut lines = Lines::new(text);
    while let Some(line) = lines.read_line()? {
        let (place, line) = (line.place(), line.bytes);
        match parsed(line) {
            Some(line) => {
                sink.request(&interval(&line, object.clone(), job))?;
            }
            None if line.trim_ascii().is_empty() => {}
            None => {
                sink.dropped(ReadError::quoting(
                    place,
                    "`time, value, direction, size, offset, priority`",
                    line,
                ));
            }
        }
    }
    Ok(())
}

/// The number in `fio_lat.2.log`.
fn job(name: &str) -> u32 {
    name.split('.').rev().find_map(|part| part.parse().ok()).unwrap_or(0)
}

fn interval(line: &Line, object: Object, job: u32) -> Interval<'static> {
    let end_ns = line.end_ms.saturating_mul(1_000_000);
    Interval {
        end_ns: Some(end_ns),
        object: Some(object),
        offset: line.offset.and_then(|offset| i64::try_from(offset).ok()).unwrap_or(NO_OFFSET),
        asked: line.bytes,
        done: line.bytes,
        tgid: job,
        tid: job,
        comm: "fio",
        flags: Flags::LOWRES,
        ..Interval::new(Layer::App, line.op, end_ns.saturating_sub(line.latency_ns))
    }
}

/// `1794772608147, 423874, 1, 131072, 0, 0`. The offset is missing without `log_offset`.
fn parsed(line: &[u8]) -> Option<Line> {
    let mut fields = [&b""[..]; 8];
    let mut count = 0;
    for field in line.split(|&byte| byte == b',') {
        *fields.get_mut(count)? = field.trim_ascii();
        count += 1;
    }
    let whole = |at: usize| decimal(fields[at]).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value);
    let op = match whole(2)? {
        0 => Op::Read,
        1 => Op::Write,
        2 => Op::Discard,
        3.. => Op::Sync,
    };
    // The priority may be hexadecimal.
    if count < 5 || hexadecimal(fields[count - 1]).is_none_or(|(_, rest)| !rest.is_empty()) {
        return None;
    }
    let offset = if count >= 6 { Some(whole(4)?) } else { None };
    Some(Line { end_ms: whole(0)?, latency_ns: whole(1)?, op, bytes: whole(3)?, offset })
}
