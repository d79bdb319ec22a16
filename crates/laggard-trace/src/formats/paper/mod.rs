//! The lines in Figures 6 and 7 of the paper: `Time: ... EVENT: AIO_ISSUE OP: READ FD: 15 OFFSET: ... NBYTES: ...`.

use std::collections::HashMap;
use std::io::Read;

use crate::formats::number::{after, number, seconds};
use crate::formats::{Interval, RequestSink};
use crate::model::{Flags, Kind, Layer, Object, Op};
use laggard_input::{Lines, ReadError};

/// With more open requests than this, the ends are assumed to be missing.
const MOST_OPEN: usize = 1 << 17;

pub(crate) fn recognises(start: &[u8]) -> bool {
    start.split(|&byte| byte == b'\n').take(4).any(|line| parsed(line).is_some())
}

struct Line {
    ts_ns: u64,
    layer: Layer,
    kind: Kind,
    op: Op,
    fd: i32,
    offset: i64,
    bytes: u64,
}

impl Line {
    fn key(&self) -> Key {
        (self.layer, self.op, self.fd, self.offset, self.bytes)
    }
}

/// Identifies a request in the paper's traces.
type Key = (Layer, Op, i32, i64, u64);

/// A layer with only ISSUE and COMPLT gets its other two boundaries from these.
pub(crate) fn read(text: impl Read, sink: &mut RequestSink<'_>) -> Result<(), ReadError> {
    let mut lines = Lines::new(text);
    let mut open: HashMap<Key, Vec<Interval<'static>>> = HashMap::new();
    let result = loop {
        let (place, line) = match lines.read_line() {
            Ok(Some(line)) => (line.place(), line.bytes),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        let Some(line) = parsed(line) else {
            if !line.trim_ascii().iter().all(|&byte| byte == b'.') {
                let expected = "`Time: 1.5 EVENT: AIO_ISSUE OP: READ FD: 15 OFFSET: 0 NBYTES: 65536`";
                sink.dropped(ReadError::quoting(place, expected, line));
            }
            continue;
        };
        if open.len() >= MOST_OPEN {
            finish(&mut open, sink)?;
        }
        cross(&line, &mut open, sink)?;
        let key = line.key();
        if open.get(&key).is_some_and(Vec::is_empty) {
            open.remove(&key);
        }
    };
    finish(&mut open, sink)?;
    result
}

fn cross(
    line: &Line,
    open: &mut HashMap<Key, Vec<Interval<'static>>>,
    sink: &mut RequestSink<'_>,
) -> Result<(), ReadError> {
    let requests = open.entry(line.key()).or_default();
    match line.kind {
        Kind::Admit => requests.push(begun(line)),
        Kind::Issue => match requests.iter_mut().find(|request| request.issue_ns.is_none()) {
            Some(request) => request.issue_ns = Some(line.ts_ns),
            None => {
                requests.push(Interval { issue_ns: Some(line.ts_ns), flags: Flags::SYNTHETIC, ..begun(line) })
            }
        },
        Kind::Complt => match requests
            .iter()
            .position(|request| request.issue_ns.is_some() && request.complt_ns.is_none())
        {
            Some(at) => {
                requests[at].complt_ns = Some(line.ts_ns);
                // A request without ADMIT has no CALLBACK either.
                if requests[at].flags.has(Flags::SYNTHETIC) {
                    let request = requests.remove(at);
                    sink.request(&Interval { end_ns: Some(line.ts_ns), done: line.bytes, ..request })?;
                }
            }
            None => sink.unbegun(),
        },
        Kind::Callback => match requests.is_empty() {
            true => sink.unbegun(),
            false => {
                let request = requests.remove(0);
                sink.request(&Interval { end_ns: Some(line.ts_ns), done: line.bytes, ..request })?;
            }
        },
        Kind::Mark => {}
    }
    Ok(())
}

fn begun(line: &Line) -> Interval<'static> {
    Interval {
        object: Some(Object::Descriptor { tgid: 0, fd: line.fd }),
        fd: line.fd,
        offset: line.offset,
        asked: line.bytes,
        ..Interval::new(line.layer, line.op, line.ts_ns)
    }
}

fn finish(
    open: &mut HashMap<Key, Vec<Interval<'static>>>,
    sink: &mut RequestSink<'_>,
) -> Result<(), ReadError> {
    let mut left: Vec<Interval<'static>> = open.drain().flat_map(|(_, requests)| requests).collect();
    left.sort_by_key(|request| request.begin_ns);
    for request in left {
        sink.unended();
        sink.request(&request)?;
    }
    Ok(())
}

fn parsed(line: &[u8]) -> Option<Line> {
    let field = |word: &[u8]| Some(after(line, word)?.trim_ascii_start());
    let event = field(b"EVENT:")?;
    let event = &event[..event.iter().position(u8::is_ascii_whitespace).unwrap_or(event.len())];
    let event = std::str::from_utf8(event).ok()?;
    let (layer, kind) = event.rsplit_once('_')?;
    let kind = Kind::ALL.into_iter().find(|known| known.name() == kind)?;
    let op = field(b"OP:")?;
    let op = match op {
        _ if op.starts_with(b"READ") => Op::Read,
        _ if op.starts_with(b"WRITE") => Op::Write,
        _ if op.starts_with(b"SYNC") => Op::Sync,
        _ => Op::Other,
    };
    let whole = |word: &[u8]| Some(number(field(word)?)?.0);
    Some(Line {
        ts_ns: seconds(field(b"Time:")?)?.0,
        layer: named(layer)?,
        kind,
        op,
        fd: i32::try_from(whole(b"FD:")?).ok()?,
        offset: whole(b"OFFSET:")?,
        bytes: u64::try_from(whole(b"NBYTES:")?).ok()?,
    })
}

/// The paper names layers after their programs.
fn named(word: &str) -> Option<Layer> {
    let word = word.to_ascii_lowercase();
    Some(match word.as_str() {
        "pvfs2" | "pvfs2_server" | "server" => Layer::Pfss,
        "pvfs2_client" | "client" => Layer::Pfsc,
        "mpi" | "mpi_io" | "romio" => Layer::Mpiio,
        "os" => Layer::Sys,
        _ => return word.parse().ok(),
    })
}
