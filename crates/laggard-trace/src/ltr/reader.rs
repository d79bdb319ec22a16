//! Reads a trace file.

use std::io::{self, BufReader, Read};

use super::line::Line;
use super::{VERSION, event_line};
use crate::model::{CommId, Edge, Footer, Header, LinkRule, Names, ObjectId, Record, RequestId};
use laggard_input::{Lines, Place, ReadError};

type Content<R> = zstd::stream::read::Decoder<'static, BufReader<R>>;

#[derive(Debug, Default)]
pub struct Damage {
    pub lines: u64,
    pub first: Option<ReadError>,
    /// The reason why reading ended before the footer.
    pub cut_short: Option<ReadError>,
}

pub struct Reader<R: Read> {
    lines: Lines<Content<R>>,
    header: Header,
    names: Names,
    footer: Option<Footer>,
    damage: Damage,
}

impl<R: Read> Reader<R> {
    pub fn open(file: R) -> Result<Reader<R>, ReadError> {
        let content = zstd::stream::read::Decoder::new(file).map_err(|error| unreadable(0, error))?;
        let mut lines = Lines::new(content);
        let header = match lines.next_line() {
            Ok(Some(line)) => header(line)?,
            Ok(None) => return Err(foreign("an empty file")),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(foreign("only the beginning of one"));
            }
            // Errors of the decompressor, on a file of another format.
            Err(error) if error.raw_os_error().is_none() => return Err(foreign("something else")),
            Err(error) => return Err(unreadable(0, error)),
        };
        Ok(Reader { lines, header, names: Names::default(), footer: None, damage: Damage::default() })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Skips damaged lines and counts them.
    pub fn next_record(&mut self) -> Option<Record> {
        while self.footer.is_none() && self.damage.cut_short.is_none() {
            let line = match self.lines.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => {
                    self.cut_short(None);
                    break;
                }
                Err(error) => {
                    self.cut_short(Some(error));
                    break;
                }
            };
            if let Some(event) = event_line::read(line) {
                return Some(Record::Event(event));
            }
            if line.is_empty() {
                continue;
            }
            let line = parsed(line);
            // A cut file ends in the middle of a line; that is not damage.
            if line.is_err() && !self.lines.is_complete() {
                continue;
            }
            match line.map_err(|found| self.unknown(&found)).and_then(|line| self.record(line)) {
                Ok(Some(record)) => return Some(record),
                Ok(None) => {}
                Err(error) => self.damaged(error),
            }
        }
        None
    }

    fn record(&mut self, line: Line) -> Result<Option<Record>, ReadError> {
        let place = Place::Line(self.lines.number());
        match line {
            Line::Object(id, object) if self.names.set_object(ObjectId(id), object.clone()) => {
                Ok(Some(Record::Object(ObjectId(id), object)))
            }
            Line::Comm(id, comm) if self.names.set_comm(CommId(id), comm.clone()) => {
                Ok(Some(Record::Comm(CommId(id), comm)))
            }
            Line::Edge(parent, child, bytes, rule, confidence) => {
                let rule = LinkRule::from_code(rule)
                    .ok_or_else(|| ReadError::quoting(place, "the code of a link rule", rule.to_string()))?;
                let (parent, child) = (RequestId(parent), RequestId(child));
                Ok(Some(Record::Edge(Edge { parent, child, bytes, rule, confidence })))
            }
            Line::Footer(footer) => {
                self.footer = Some(footer);
                Ok(None)
            }
            Line::Header(_) => Err(ReadError::quoting(place, "one header", "a second one")),
            Line::Object(id, _) => Err(not_consecutive(place, id)),
            Line::Comm(id, _) => Err(not_consecutive(place, id.into())),
        }
    }

    fn unknown(&self, found: &[u8]) -> ReadError {
        ReadError::quoting(Place::Line(self.lines.number()), "a record of a trace", found)
    }

    fn damaged(&mut self, error: ReadError) {
        self.damage.lines += 1;
        self.damage.first.get_or_insert(error);
    }

    fn cut_short(&mut self, error: Option<io::Error>) {
        let line = self.lines.number();
        self.damage.cut_short = Some(match error {
            Some(error) => unreadable(line, error),
            None => ReadError::Truncated { place: Place::Line(line), within: "the events".into() },
        });
    }

    /// Without a footer in the file, `is_cut_short` is set.
    pub fn footer(&self) -> Footer {
        self.footer.clone().unwrap_or_else(|| Footer { is_cut_short: true, ..Footer::default() })
    }

    pub fn damage(&self) -> &Damage {
        &self.damage
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        self.next_record()
    }
}

fn header(line: &[u8]) -> Result<Header, ReadError> {
    let header = match serde_json::from_slice(line) {
        Ok(Line::Header(header)) => header,
        _ => return Err(ReadError::quoting(Place::Line(1), "the header of a trace file (.ltr)", line)),
    };
    if header.version == 0 || header.version > VERSION {
        let expected = format!("version {VERSION} of the format or an earlier one");
        return Err(ReadError::quoting(Place::Line(1), expected, header.version.to_string()));
    }
    Ok(header)
}

fn foreign(found: &str) -> ReadError {
    ReadError::Content { place: Place::Whole, expected: "a trace file (.ltr)".into(), found: found.into() }
}

fn not_consecutive(place: Place, id: u32) -> ReadError {
    ReadError::quoting(place, "consecutively numbered names", id.to_string())
}

fn unreadable(line: u64, error: io::Error) -> ReadError {
    let place = if line == 0 { Place::Whole } else { Place::Line(line) };
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return ReadError::Truncated { place, within: "the events".into() };
    }
    ReadError::Io { place, error }
}

/// An error has the start of a line that is not understood.
fn parsed(line: &[u8]) -> Result<Line, Vec<u8>> {
    serde_json::from_slice(line).map_err(|_| line[..line.len().min(100)].to_vec())
}
