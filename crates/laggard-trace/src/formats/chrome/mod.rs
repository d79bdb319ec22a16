//! Complete events in Chrome's trace format, one JSON object per line, as written by DFTracer (`.pfw`).

use std::collections::HashMap;
use std::io::Read;

use serde::Deserialize;
use serde_json::Value;

use crate::formats::{Interval, RequestSink};
use crate::model::{Layer, MetaOp, NO_OFFSET, Object, Op};
use laggard_input::{Lines, ReadError};

pub(crate) fn recognises(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n').take(3);
    lines.any(|line| {
        line.starts_with(b"{\"") && parsed(line).is_ok_and(|event| event.ph == "X" || event.ph == "M")
    })
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    name: String,
    #[serde(default)]
    cat: String,
    ph: String,
    #[serde(default)]
    pid: u32,
    #[serde(default)]
    tid: u32,
    #[serde(default)]
    ts: f64,
    #[serde(default)]
    dur: f64,
    #[serde(default)]
    args: HashMap<String, Value>,
}

fn parsed(line: &[u8]) -> Result<Line, serde_json::Error> {
    serde_json::from_slice(line.strip_suffix(b",").unwrap_or(line))
}

/// File names may be given as hashes that other lines define.
pub(crate) fn read(text: impl Read, sink: &mut RequestSink<'_>) -> Result<(), ReadError> {
    let mut lines = Lines::new(text);
    let mut names = HashMap::new();
    while let Some(line) = lines.read_line()? {
        let (place, line) = (line.place(), line.bytes.trim_ascii());
        if matches!(line, b"" | b"[" | b"]") {
            continue;
        }
        match parsed(line) {
            Ok(event) if event.ph == "X" => {
                if let Some(interval) = interval(&event, &names) {
                    sink.request(&interval)?;
                }
            }
            Ok(event) => learn(&event, &mut names),
            Err(_) => {
                sink.dropped(ReadError::quoting(place, "a JSON object with `ph`, `ts` and `dur`", line))
            }
        }
    }
    Ok(())
}

/// `{"name":"FH","ph":"M","args":{"name":"/mnt/file","value":"1a2b"}}` defines a hash.
fn learn(event: &Line, names: &mut HashMap<String, String>) {
    let text = |key: &str| event.args.get(key).map(words);
    if event.name == "FH"
        && let (Some(name), Some(hash)) = (text("name"), text("value"))
    {
        names.insert(hash, name);
    }
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn interval(event: &Line, names: &HashMap<String, String>) -> Option<Interval<'static>> {
    let op = op(&event.name)?;
    let layer = match event.cat.as_str() {
        "POSIX" => Layer::Sys,
        "MPI" | "MPIIO" | "MPI-IO" => Layer::Mpiio,
        _ => Layer::App,
    };
    let whole = |key: &str| match event.args.get(key)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    let path = ["fname", "filename", "path"].iter().find_map(|key| event.args.get(*key)).map(words);
    let path = path.or_else(|| names.get(&words(event.args.get("fhash")?)).cloned());
    let result = whole("ret").unwrap_or(0);
    let asked = ["count", "size", "image_size"].iter().find_map(|key| whole(key)).unwrap_or(result);
    let nanoseconds = |micros: f64| (micros.max(0.0) * 1_000.0) as u64;
    Some(Interval {
        end_ns: Some(nanoseconds(event.ts + event.dur)),
        object: path.map(|path| Object::File { path, inode: None, device: None }),
        offset: whole("offset").unwrap_or(NO_OFFSET),
        asked: u64::try_from(asked).unwrap_or(0),
        done: if op.is_data() { u64::try_from(result).unwrap_or(0) } else { 0 },
        tgid: event.pid,
        tid: event.tid,
        status: i32::try_from(result.min(0)).unwrap_or(i32::MIN),
        ..Interval::new(layer, op, nanoseconds(event.ts))
    })
}

/// The operation of a function; none for functions that are not I/O.
pub(crate) fn op(name: &str) -> Option<Op> {
    let name = name.rsplit("::").next().unwrap_or(name);
    let lower = name.to_ascii_lowercase();
    Some(match lower.trim_end_matches("64") {
        "read" | "pread" | "readv" | "preadv" | "fread" => Op::Read,
        "write" | "pwrite" | "writev" | "pwritev" | "fwrite" => Op::Write,
        "fsync" | "fdatasync" | "msync" | "sync" => Op::Sync,
        "open" | "openat" | "fopen" => Op::Meta(MetaOp::Open),
        "creat" => Op::Meta(MetaOp::Create),
        "close" | "fclose" => Op::Meta(MetaOp::Close),
        "stat" | "fstat" | "lstat" | "__xstat" | "__fxstat" | "__lxstat" => Op::Meta(MetaOp::Getattr),
        "unlink" | "remove" | "rmdir" => Op::Meta(MetaOp::Remove),
        "rename" => Op::Meta(MetaOp::Rename),
        "mkdir" => Op::Meta(MetaOp::Mkdir),
        "opendir" | "readdir" => Op::Meta(MetaOp::Readdir),
        "lseek" | "fseek" => Op::Meta(MetaOp::Seek),
        "ftruncate" => Op::Meta(MetaOp::Setattr),
        other if other.starts_with("mpi_file_read") || other.starts_with("mpi_file_iread") => Op::Read,
        other if other.starts_with("mpi_file_write") || other.starts_with("mpi_file_iwrite") => Op::Write,
        "mpi_file_sync" => Op::Sync,
        _ => return None,
    })
}
