//! Reads recordings of other tools: plain files, folders, archives, compressed or not.
//!
//! In: a path. Out: rows and notes for a [`Sink`], and a [`FileOutcome`] per file. Always: the content decides the
//! format, never the name; a bad file or archive member does not stop the rest.

mod format;
mod relay;

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

use laggard_input::{Content, Place, Progress, ReadError, for_each_content};

use crate::mapped::Mapping;
use crate::sink::{Note, Sink, host_of_file};
use crate::{iostat, mapped, sadf, sysstat};
use format::describe;
use relay::Relay;

pub use format::Format;

#[derive(Clone, Default)]
pub struct Options<'o> {
    /// Default: detected from the content.
    pub format: Option<Format>,
    /// Replaces the host name in the recordings.
    pub host: Option<String>,
    /// Needed for CSV and Parquet.
    pub map: Option<Mapping>,
    pub progress: Option<Progress<'o>>,
}

/// The result of reading one file, or one member of an archive.
#[derive(Debug)]
pub struct FileOutcome {
    /// The path; `archive/member` in an archive.
    pub name: String,
    pub format: Option<Format>,
    /// Includes rows that precede an error.
    pub rows: u64,
    /// The first hundred notes of the reader.
    pub notes: Vec<Note>,
    pub result: Result<(), ReadError>,
}

/// Reads every file below a path. Only a full sink stops it.
pub fn import(path: &Path, options: &Options<'_>, sink: &mut dyn Sink, report: &mut dyn FnMut(FileOutcome)) {
    for_each_content(path, options.progress, &mut |name, content| {
        let outcome = import_file(name, content, options, sink);
        let is_sink_full = matches!(outcome.result, Err(ReadError::Sink(_)));
        report(outcome);
        if is_sink_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
}

fn import_file(
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

/// The requested format, else the detected one, else CSV if there is a mapping.
fn format(start: &[u8], options: &Options<'_>) -> Result<Format, ReadError> {
    let known = options.format.or_else(|| Format::detect(start));
    let csv = options.map.as_ref().filter(|_| looks_like_text(start)).map(|_| Format::Csv);
    known.or(csv).ok_or_else(|| {
        let expected = "a sysstat, sadf or iostat file, or (with --map) CSV or Parquet";
        ReadError::content(Place::Whole, expected, describe(start))
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

#[cfg(test)]
mod tests;
