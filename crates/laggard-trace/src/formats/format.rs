//! The formats that can be read, and how each is told from the others.

use std::fmt;
use std::str::FromStr;

use super::{blktrace, chrome, darshan, fio, ftrace, paper, recorder, strace};

/// What a trace is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The text of the kernel's tracing files.
    Ftrace,
    /// The binary records of blktrace.
    Blktrace,
    /// What blkparse prints.
    Blkparse,
    /// What `strace -f -ttt -T -y` prints.
    Strace,
    /// A Darshan log with extended tracing (DXT).
    Dxt,
    /// fio's log of latencies.
    FioLat,
    /// fio's log of I/O.
    FioIolog,
    /// Lines as in Figures 6 and 7 of the paper.
    Paper,
    /// Complete events of DFTracer and the like, a JSON object per line.
    Pfw,
    /// What Recorder's `recorder2text` writes, a file for each rank.
    RecorderText,
}

impl Format {
    /// All of them, with their names.
    pub const ALL: [(Format, &'static str); 10] = [
        (Format::Ftrace, "ftrace"),
        (Format::Blktrace, "blktrace"),
        (Format::Blkparse, "blkparse"),
        (Format::Strace, "strace"),
        (Format::Dxt, "dxt"),
        (Format::FioLat, "fio-lat"),
        (Format::FioIolog, "fio-iolog"),
        (Format::Paper, "paper"),
        (Format::Pfw, "pfw"),
        (Format::RecorderText, "recorder-text"),
    ];

    /// The format of a content that begins like this.
    pub fn detect(start: &[u8]) -> Option<Format> {
        match start {
            _ if blktrace::binary::recognises(start) => Some(Format::Blktrace),
            _ if darshan::recognises(start) => Some(Format::Dxt),
            _ if ftrace::recognises(start) => Some(Format::Ftrace),
            _ if fio::iolog::recognises(start) => Some(Format::FioIolog),
            _ if paper::recognises(start) => Some(Format::Paper),
            _ if blktrace::text::recognises(start) => Some(Format::Blkparse),
            _ if chrome::recognises(start) => Some(Format::Pfw),
            _ if recorder::recognises(start) => Some(Format::RecorderText),
            _ if fio::latency::recognises(start) => Some(Format::FioLat),
            _ if strace::recognises(start) => Some(Format::Strace),
            _ => None,
        }
    }

    /// How fine its times are.
    pub fn resolution_ns(self) -> u64 {
        match self {
            Format::Blktrace | Format::Blkparse => 1,
            Format::Ftrace | Format::Strace | Format::Paper | Format::Pfw | Format::FioIolog => 1_000,
            Format::RecorderText => 1_000,
            Format::Dxt => 1,
            Format::FioLat => 1_000_000,
        }
    }

    /// Whether a request is for that of a higher layer which its thread is in.
    pub(crate) fn is_nested(self) -> bool {
        matches!(self, Format::Pfw | Format::RecorderText)
    }

    /// Which clock its times are of. Traces of different clocks cannot be laid side by side.
    pub fn clock(self) -> &'static str {
        match self {
            Format::Ftrace => "boot",
            Format::Blktrace | Format::Blkparse => "trace",
            Format::Strace | Format::Dxt => "wall",
            Format::FioLat | Format::FioIolog | Format::RecorderText => "job",
            Format::Paper => "paper",
            Format::Pfw => "wall",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Format::ALL.iter().find(|(format, _)| format == self).map_or("", |(_, name)| name);
        f.pad(name)
    }
}

/// A name that no format has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no format: write one of {names}", names = names())]
pub struct UnknownFormat(String);

fn names() -> String {
    Format::ALL.map(|(_, name)| name).join(", ")
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Format, UnknownFormat> {
        let found = Format::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(format, _)| *format).ok_or_else(|| UnknownFormat(text.into()))
    }
}
