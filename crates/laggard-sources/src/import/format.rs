//! The formats that can be read, and their detection.

use std::fmt;
use std::str::FromStr;

use laggard_input::{FormatEntry, Formats, UnknownFormat};

use crate::{iostat, sadf, sysstat};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// sysstat's binary files.
    Sa,
    /// `sadf -j`.
    SadfJson,
    /// `sadf -d`.
    SadfCsv,
    /// `sadf -x`.
    SadfXml,
    Iostat,
    /// `iostat -o JSON`.
    IostatJson,
    /// Any CSV, with a mapping.
    Csv,
    /// Any Parquet, with a mapping.
    Parquet,
}

const fn entry(format: Format, name: &'static str, recognises: fn(&[u8]) -> bool) -> FormatEntry<Format> {
    FormatEntry { format, name, recognises }
}

/// CSV is never detected: any text may be CSV.
pub(super) static FORMATS: Formats<Format> = Formats(&[
    entry(Format::Parquet, "parquet", |start| start.starts_with(b"PAR1")),
    entry(Format::Sa, "sa", sysstat::recognises),
    entry(Format::SadfJson, "sadf-json", sadf::json::recognises),
    entry(Format::IostatJson, "iostat-json", iostat::json::recognises),
    entry(Format::SadfXml, "sadf-xml", sadf::xml::recognises),
    entry(Format::SadfCsv, "sadf-csv", sadf::csv::recognises),
    entry(Format::Iostat, "iostat", iostat::text::recognises),
    entry(Format::Csv, "csv", |_| false),
]);

impl Format {
    pub(crate) fn detect(start: &[u8]) -> Option<Format> {
        FORMATS.detect(start)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(FORMATS.name(*self))
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Format, UnknownFormat> {
        FORMATS.parse(text)
    }
}

/// A description of unknown content with a hint for what to do.
pub(super) fn describe(start: &[u8]) -> String {
    let text = String::from_utf8_lossy(start);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match iostat::text::banner(first) {
        Some(_) => {
            "the output of sar or a similar tool (import the file that sar reads, or the output of sadf -j)"
                .into()
        }
        None => laggard_input::describe(start),
    }
}
