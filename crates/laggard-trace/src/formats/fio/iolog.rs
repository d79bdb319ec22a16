//! `--write_iolog`, version 3: the begin of each request, without its end.

use std::io::Read;

use crate::formats::number::decimal;
use crate::formats::{Interval, RequestSink};
use crate::model::{Flags, Layer, Object, Op};
use laggard_input::{Lines, ReadError};

pub(crate) fn recognises(start: &[u8]) -> bool {
    start.starts_with(b"fio version ") && start.get(13..19) == Some(b" iolog")
}

pub(crate) fn read(text: impl Read, sink: &mut RequestSink<'_>) -> Result<(), ReadError> {
    let mut lines = Lines::new(text);
    while let Some(line) = lines.read_line()? {
        let (place, line) = (line.place(), line.bytes);
        if line.starts_with(b"fio version ") {
            if !line.starts_with(b"fio version 3") {
                return Err(ReadError::quoting(place, "version 3 of the log (version 2 has no times)", line));
            }
            continue;
        }
        match parsed(line) {
            Some(Some(interval)) => {
                sink.request(&interval)?;
            }
            Some(None) => {}
            None if line.trim_ascii().is_empty() => {}
            None => {
                sink.dropped(ReadError::quoting(place, "`time file read|write|sync|trim offset size`", line))
            }
        }
    }
    Ok(())
}

/// `1234 /mnt/file write 65536 4096`, the time in microseconds. `Some(None)` for files that are opened or closed.
fn parsed(line: &[u8]) -> Option<Option<Interval<'static>>> {
    let text = std::str::from_utf8(line).ok()?;
    let (time, rest) = text.trim().split_once(' ')?;
    let (time, left) = decimal(time.as_bytes())?;
    if !left.is_empty() {
        return None;
    }
    if [" add", " open", " close"].iter().any(|action| rest.ends_with(action)) {
        return Some(None);
    }
    // Names may contain spaces: split from the right.
    let mut words = rest.rsplitn(4, ' ');
    let (size, offset, action, name) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let op = match action {
        "read" => Op::Read,
        "write" => Op::Write,
        "sync" | "datasync" => Op::Sync,
        "trim" => Op::Discard,
        "wait" => return Some(None),
        _ => return None,
    };
    Some(Some(Interval {
        object: Some(Object::File { path: name.to_owned(), inode: None, device: None }),
        offset: offset.parse().ok()?,
        asked: size.parse().ok()?,
        comm: "fio",
        flags: Flags::PARTIAL,
        ..Interval::new(Layer::App, op, time.saturating_mul(1_000))
    }))
}
