//! The formats that can be read, and how each is told from the others.

use std::fmt;
use std::str::FromStr;

use crate::printed::line::shortened;
use crate::{iostat, sadf, sysstat};

/// What a recording is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// sysstat's own binary files.
    Sa,
    /// `sadf -j`.
    SadfJson,
    /// `sadf -d`.
    SadfCsv,
    /// `sadf -x`.
    SadfXml,
    /// `iostat`.
    Iostat,
    /// `iostat -o JSON`.
    IostatJson,
    /// Any CSV, with a mapping.
    Csv,
    /// Any Parquet, with a mapping.
    Parquet,
}

impl Format {
    /// All of them, with their names.
    pub const ALL: [(Format, &'static str); 8] = [
        (Format::Sa, "sa"),
        (Format::SadfJson, "sadf-json"),
        (Format::SadfCsv, "sadf-csv"),
        (Format::SadfXml, "sadf-xml"),
        (Format::Iostat, "iostat"),
        (Format::IostatJson, "iostat-json"),
        (Format::Csv, "csv"),
        (Format::Parquet, "parquet"),
    ];

    /// The format of a content that begins like this. CSV is never told: any text may be one.
    pub fn detect(start: &[u8]) -> Option<Format> {
        if start.starts_with(b"PAR1") {
            return Some(Format::Parquet);
        }
        if sysstat::recognises(start) {
            return Some(Format::Sa);
        }
        let text = String::from_utf8_lossy(start);
        match &*text {
            text if sadf::json::recognises(text) => Some(Format::SadfJson),
            text if iostat::json::recognises(text) => Some(Format::IostatJson),
            text if sadf::xml::recognises(text) => Some(Format::SadfXml),
            text if sadf::csv::recognises(text) => Some(Format::SadfCsv),
            text if iostat::text::recognises(text) => Some(Format::Iostat),
            _ => None,
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

/// What a content looks like, for a message: and what could be done about it.
pub(super) fn described(start: &[u8]) -> String {
    let text = String::from_utf8_lossy(start);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_text =
        !text.chars().take(START_OF_TEXT).any(|c| c.is_control() && !c.is_whitespace() || c == '\u{fffd}');
    match start {
        [] => "an empty file".into(),
        [b'B', b'Z', b'h', ..] => "a bzip2 file (unpack it first)".into(),
        [b'P', b'K', 3, 4, ..] => "a zip file (unpack it first)".into(),
        _ if iostat::text::banner(first).is_some() => {
            "what sar or a tool like it printed (import the file that sar reads, or what sadf -j makes of it)"
                .into()
        }
        _ if is_text => format!("text that begins {}", shortened(first)),
        _ => format!(
            "bytes that begin {}",
            start.iter().take(8).map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
        ),
    }
}

const START_OF_TEXT: usize = 256;
