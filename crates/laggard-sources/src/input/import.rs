//! From a path to rows.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

use super::content::{Content, Progress, each_input};
use super::format::{Format, described};
use super::relay::Relay;
use crate::mapped::Mapping;
use crate::reading::{Note, Place, ReadError, Sink, host_of_file};
use crate::{iostat, mapped, sadf, sysstat};

/// How to read.
#[derive(Clone, Default)]
pub struct Options<'o> {
    /// The format, where it is not to be told from the content.
    pub format: Option<Format>,
    /// What to call the host, whatever the recordings say.
    pub host: Option<String>,
    /// How to read CSV and Parquet.
    pub map: Option<Mapping>,
    /// Told of every piece that was read.
    pub progress: Option<Progress<'o>>,
}

/// What became of one file, or one member of an archive.
#[derive(Debug)]
pub struct FileOutcome {
    /// Its path; `archive/member` in an archive.
    pub name: String,
    /// What it is, if that could be told.
    pub format: Option<Format>,
    /// How many rows it gave, before an error too.
    pub rows: u64,
    /// What the reader remarked; the first hundred.
    pub notes: Vec<Note>,
    /// Whether it was read to its end.
    pub result: Result<(), ReadError>,
}

/// Reads all that a path stands for. Only a sink that takes no more stops it.
pub fn import(path: &Path, options: &Options<'_>, sink: &mut dyn Sink, report: &mut dyn FnMut(FileOutcome)) {
    each_input(path, options.progress, &mut |name, content| {
        let outcome = one(name, content, options, sink);
        let goes_on = !matches!(outcome.result, Err(ReadError::Sink(_)));
        report(outcome);
        if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
}

fn one(
    name: &str,
    content: Result<Content<'_>, ReadError>,
    options: &Options<'_>,
    sink: &mut dyn Sink,
) -> FileOutcome {
    let mut relay = Relay { sink, host: options.host.as_deref(), rows: 0, notes: Vec::new() };
    let (format, result) = match content {
        Err(error) => (None, Err(error)),
        Ok(content) => match format(content.start, options) {
            Err(error) => (None, Err(error)),
            Ok(format) => (Some(format), read(format, name, content, options, &mut relay)),
        },
    };
    FileOutcome { name: name.into(), format, rows: relay.rows, notes: relay.notes, result }
}

/// What the caller says, else what the content says, else CSV if there is a way to read it.
fn format(start: &[u8], options: &Options<'_>) -> Result<Format, ReadError> {
    let told = options.format.or_else(|| Format::detect(start));
    let csv = options.map.as_ref().filter(|_| looks_like_text(start)).map(|_| Format::Csv);
    told.or(csv).ok_or_else(|| {
        let expected = "a sysstat, sadf or iostat file, or (with --map) CSV or Parquet";
        ReadError::content(Place::Whole, expected, described(start))
    })
}

fn looks_like_text(start: &[u8]) -> bool {
    !start.is_empty() && !start.contains(&0)
}

fn read(
    format: Format,
    name: &str,
    content: Content<'_>,
    options: &Options<'_>,
    sink: &mut dyn Sink,
) -> Result<(), ReadError> {
    let bytes = content.bytes;
    match format {
        Format::Sa => sysstat::read(bytes, sink),
        Format::SadfJson => sadf::json::read(bytes, sink),
        Format::SadfCsv => sadf::csv::read(bytes, sink),
        Format::SadfXml => sadf::xml::read(bytes, sink),
        Format::Iostat => iostat::text::read(bytes, host_of_file(name), sink),
        Format::IostatJson => iostat::json::read(bytes, host_of_file(name), sink),
        Format::Csv => mapped::csv::read(bytes, name, mapping(options, "CSV")?, sink),
        Format::Parquet => {
            let mapping = mapping(options, "Parquet")?;
            match content.file.map(File::open) {
                Some(Ok(file)) => mapped::parquet::read_file(file, name, mapping, sink),
                _ => mapped::parquet::read_stream(bytes, name, mapping, sink),
            }
        }
    }
}

fn mapping<'o>(options: &'o Options<'_>, format: &str) -> Result<&'o Mapping, ReadError> {
    let missing = || ReadError::content(Place::Whole, format!("a mapping for {format} (--map)"), "none");
    options.map.as_ref().ok_or_else(missing)
}
