//! The text that Recorder's `recorder2text` writes: a file per rank, a line per call, `0.000012 0.000034 pwrite 1 0
//! ( /f 0x7f 4096 0 )`. Return values are not included.

use std::io::Read;

use crate::formats::chrome;
use crate::formats::number::{decimal, seconds};
use crate::formats::{Interval, RequestSink};
use crate::model::{Flags, Layer, NO_OFFSET, Object, Op};
use laggard_input::{Lines, ReadError};

pub(crate) fn recognises(start: &[u8]) -> bool {
    start.split(|&byte| byte == b'\n').next().is_some_and(|line| parsed(line.trim_ascii()).is_some())
}

struct Call<'l> {
    begin_ns: u64,
    end_ns: u64,
    name: &'l str,
    arguments: Vec<&'l str>,
}

impl Call<'_> {
    fn number(&self, at: usize) -> Option<u64> {
        self.arguments.get(at)?.parse().ok()
    }
}

/// Begin, end, function, depth, kind, then the arguments in parentheses.
fn parsed(line: &[u8]) -> Option<Call<'_>> {
    let (begin_ns, rest) = seconds(line)?;
    let (end_ns, rest) = seconds(rest.strip_prefix(b" ")?)?;
    let mut words = std::str::from_utf8(rest).ok()?.split_ascii_whitespace();
    let name = words
        .next()
        .filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))?;
    for _ in ["depth", "kind"] {
        decimal(words.next()?.as_bytes()).filter(|(_, rest)| rest.is_empty())?;
    }
    let first = words.next()?.strip_prefix('(')?;
    let arguments = std::iter::once(first).chain(words).filter(|word| !word.is_empty());
    let mut arguments: Vec<&str> = arguments.collect();
    (arguments.pop()? == ")").then_some(Call { begin_ns, end_ns, name, arguments })
}

/// The file name, `3.txt`, is the rank.
pub(crate) fn read(text: impl Read, name: &str, sink: &mut RequestSink<'_>) -> Result<(), ReadError> {
    let stem = name.rsplit('/').next().and_then(|last| last.split('.').next()).unwrap_or_default();
    let rank = stem.parse().unwrap_or(0);
    let mut lines = Lines::new(text);
    while let Some(line) = lines.read_line()? {
        let (place, line) = (line.place(), line.bytes.trim_ascii());
        match parsed(line) {
            Some(call) => {
                if let Some(interval) = interval(&call, rank) {
                    sink.request(&interval)?;
                }
            }
            None if line.is_empty() => {}
            None => sink.dropped(ReadError::quoting(
                place,
                "a line like `0.000012 0.000034 pwrite 1 0 ( /f 0x7f 4096 0 )`",
                line,
            )),
        }
    }
    Ok(())
}

/// Sizes and offsets are set for system calls only: the counts of MPI-IO calls are in units of a type that is not
/// recorded.
fn interval(call: &Call<'_>, rank: u32) -> Option<Interval<'static>> {
    let op = chrome::op(call.name)?;
    let layer = if call.name.starts_with("MPI_") { Layer::Mpiio } else { Layer::Sys };
    let is_stream = matches!(call.name, "fread" | "fwrite" | "fread64" | "fwrite64");
    let is_positional = call.name.starts_with("pread") || call.name.starts_with("pwrite");
    let asked = match (layer, op) {
        (Layer::Sys, Op::Read | Op::Write) if is_stream => {
            call.number(1).zip(call.number(2)).and_then(|(size, count)| size.checked_mul(count))
        }
        (Layer::Sys, Op::Read | Op::Write) => call.number(2),
        _ => None,
    };
    let offset = if is_positional { call.number(3).and_then(|at| i64::try_from(at).ok()) } else { None };
    let of = call.arguments.get(if is_stream { 3 } else { 0 });
    Some(Interval {
        end_ns: Some(call.end_ns),
        object: of.map(|of| object(of, rank)),
        offset: offset.unwrap_or(NO_OFFSET),
        asked: asked.unwrap_or(0),
        done: asked.unwrap_or(0),
        flags: Flags::INFERRED,
        tgid: rank,
        tid: rank,
        ..Interval::new(layer, op, call.begin_ns)
    })
}

fn object(of: &str, rank: u32) -> Object {
    match of.parse() {
        Ok(fd) => Object::Descriptor { tgid: rank, fd },
        Err(_) => Object::File { path: of.to_owned(), inode: None, device: None },
    }
}
