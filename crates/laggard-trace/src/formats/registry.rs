//! The formats, and their detection.

use std::fmt;
use std::str::FromStr;

use laggard_input::{FormatEntry, Formats, UnknownFormat};

use super::{blktrace, chrome, darshan, fio, ftrace, paper, recorder, strace};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The text of tracefs.
    Ftrace,
    /// Binary records.
    Blktrace,
    /// The output of blkparse.
    Blkparse,
    /// The output of `strace -f -ttt -T -y`.
    Strace,
    /// A Darshan log with extended tracing (DXT).
    Dxt,
    /// Latency log.
    FioLat,
    /// I/O log.
    FioIolog,
    /// Lines as in Figures 6 and 7 of the paper.
    Paper,
    /// Complete events of DFTracer, a JSON object per line.
    Pfw,
    /// The output of Recorder's `recorder2text`, a file per rank.
    RecorderText,
}

/// In the order in which detection tries them.
static FORMATS: Formats<Format> = Formats(&[
    entry(Format::Blktrace, "blktrace", blktrace::binary::recognises),
    entry(Format::Dxt, "dxt", darshan::recognises),
    entry(Format::Ftrace, "ftrace", ftrace::recognises),
    entry(Format::FioIolog, "fio-iolog", fio::iolog::recognises),
    entry(Format::Paper, "paper", paper::recognises),
    entry(Format::Blkparse, "blkparse", blktrace::text::recognises),
    entry(Format::Pfw, "pfw", chrome::recognises),
    entry(Format::RecorderText, "recorder-text", recorder::recognises),
    entry(Format::FioLat, "fio-lat", fio::latency::recognises),
    entry(Format::Strace, "strace", strace::recognises),
]);

const fn entry(format: Format, name: &'static str, recognises: fn(&[u8]) -> bool) -> FormatEntry<Format> {
    FormatEntry { format, name, recognises }
}

impl Format {
    /// All formats with their names.
    pub fn all() -> impl Iterator<Item = (Format, &'static str)> {
        FORMATS.0.iter().map(|entry| (entry.format, entry.name))
    }

    pub fn detect(start: &[u8]) -> Option<Format> {
        FORMATS.detect(start)
    }

    pub fn resolution_ns(self) -> u64 {
        match self {
            Format::Blktrace | Format::Blkparse => 1,
            Format::Ftrace | Format::Strace | Format::Paper | Format::Pfw | Format::FioIolog => 1_000,
            Format::RecorderText => 1_000,
            Format::Dxt => 1,
            Format::FioLat => 1_000_000,
        }
    }

    /// True if the requests of a thread are nested by layer.
    pub(crate) fn is_nested(self) -> bool {
        matches!(self, Format::Pfw | Format::RecorderText)
    }

    /// Traces of different clocks cannot be combined.
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
        f.pad(FORMATS.name(*self))
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        FORMATS.parse(name)
    }
}
