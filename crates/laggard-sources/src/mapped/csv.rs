//! CSV files, read through a mapping.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{BufRead, Read};
use std::rc::Rc;

use ::csv::{ByteRecord, Reader, ReaderBuilder};
use laggard_core::model::time::Timestamp;
use laggard_core::samples::ABSENT;
use laggard_input::{Place, ReadError};

use super::binding::{Binding, Record};
use super::mapping::{Mapping, Options, TimeUnit};
use crate::row_buffer::RowBuffer;
use crate::sink::{ROWS_PER_PIECE, Sink};
use crate::sysstat_text::bad_lines::BadLines;

/// A longer record has an unclosed quote.
const LONGEST_RECORD: usize = 1 << 20;

/// `name` is the path, for the mapping's path pattern.
pub fn read(
    input: &mut dyn BufRead,
    name: &str,
    mapping: &Mapping,
    sink: &mut dyn Sink,
) -> Result<(), ReadError> {
    let mut row_buffer = RowBuffer::new(sink, ROWS_PER_PIECE);
    let mut bad = BadLines::default();
    let read = records(input, name, mapping, &mut row_buffer, &mut bad);
    row_buffer.hand_over()?;
    read?;
    bad.settle(&mut row_buffer, "at least one line that matches the mapping")
}

fn records(
    input: &mut dyn BufRead,
    name: &str,
    mapping: &Mapping,
    row_buffer: &mut RowBuffer<'_>,
    bad: &mut BadLines,
) -> Result<(), ReadError> {
    let budget = Rc::new(Cell::new(LONGEST_RECORD));
    let mut reader = reader(LimitedReader { input, budget: budget.clone() }, &mapping.options);
    let columns = columns(&mut reader, &mapping.options)?;
    let mut binding = Binding::new(mapping, name, &columns)?;
    let mut fields = ByteRecord::new();
    loop {
        budget.set(LONGEST_RECORD);
        if !reader.read_byte_record(&mut fields).map_err(unreadable)? {
            return Ok(());
        }
        let line = Line { fields: &fields, options: &mapping.options, unit: mapping.time.unit };
        let fits = fields.len() == columns.len() && binding.rows(&line, row_buffer).is_some();
        if !fits {
            let number = fields.position().map_or(0, ::csv::Position::line);
            bad.add(number, fields.as_slice());
        }
        if row_buffer.settle()? {
            binding.forget_places();
        }
    }
}

fn reader<R: Read>(input: R, options: &Options) -> Reader<R> {
    let ascii = |mark: char| u8::try_from(mark).unwrap_or(b',');
    ReaderBuilder::new()
        .delimiter(ascii(options.delimiter))
        .comment(options.comment.map(ascii))
        .has_headers(options.columns.is_none())
        .flexible(true)
        .from_reader(input)
}

fn columns<R: Read>(reader: &mut Reader<R>, options: &Options) -> Result<Vec<String>, ReadError> {
    if let Some(columns) = &options.columns {
        return Ok(columns.clone());
    }
    let heading = reader.byte_headers().map_err(unreadable)?;
    let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_start_matches('\u{feff}').trim().to_owned();
    Ok(heading.iter().map(name).collect())
}

fn unreadable(error: ::csv::Error) -> ReadError {
    let place = error.position().map_or(Place::Whole, |position| Place::Line(position.line()));
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => ReadError::Io { place, error },
        kind => ReadError::content(place, "CSV", format!("{kind:?}")),
    }
}

/// Limits the length of a record: an unclosed quote must not fill the memory.
struct LimitedReader<'r> {
    input: &'r mut dyn BufRead,
    budget: Rc<Cell<usize>>,
}

impl Read for LimitedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.input.read(buffer)?;
        let left = self.budget.get().checked_sub(read);
        self.budget.set(
            left.ok_or_else(|| std::io::Error::other("a record has no end: check for an unclosed quote"))?,
        );
        Ok(read)
    }
}

struct Line<'l> {
    fields: &'l ByteRecord,
    options: &'l Options,
    unit: TimeUnit,
}

impl Line<'_> {
    fn field(&self, column: usize) -> Option<&str> {
        std::str::from_utf8(self.fields.get(column)?).ok().map(str::trim)
    }

    fn is_missing(&self, text: &str) -> bool {
        self.options.missing.iter().any(|missing| missing == text)
    }

    fn parsed(&self, text: &str) -> Option<f64> {
        match self.options.decimal {
            '.' => text.parse().ok(),
            mark => text.replace(mark, ".").parse().ok(),
        }
    }
}

impl Record for Line<'_> {
    fn text(&self, column: usize) -> Option<Cow<'_, str>> {
        self.field(column).filter(|text| !self.is_missing(text)).map(Cow::Borrowed)
    }

    fn number(&self, column: usize) -> Option<f64> {
        let text = self.field(column)?;
        match self.is_missing(text) {
            true => Some(f64::NAN),
            false => self.parsed(text).filter(|number| number.is_finite()),
        }
    }

    fn count(&self, column: usize) -> Option<u64> {
        let text = self.field(column)?;
        match self.is_missing(text) {
            true => Some(ABSENT),
            false => text.parse().ok().or_else(|| whole(self.parsed(text)?)),
        }
    }

    fn time(&self, column: usize) -> Option<Timestamp> {
        let text = self.field(column)?;
        match self.unit {
            TimeUnit::Text => text.parse().ok(),
            unit => match text.parse::<i64>() {
                Ok(count) => unit.instant(count),
                Err(_) => unit.instant_of_fraction(self.parsed(text)?),
            },
        }
    }
}

/// A count written as `12.0` or `1.2e9`.
pub(super) fn whole(number: f64) -> Option<u64> {
    ((0.0..1.8e19).contains(&number) && number.fract() == 0.0).then_some(number as u64)
}

impl TimeUnit {
    fn micros(self) -> f64 {
        match self {
            TimeUnit::Seconds | TimeUnit::Text => 1e6,
            TimeUnit::Milliseconds => 1e3,
            TimeUnit::Microseconds => 1.0,
            TimeUnit::Nanoseconds => 1e-3,
        }
    }

    pub(super) fn instant(self, count: i64) -> Option<Timestamp> {
        let micros = match self {
            TimeUnit::Nanoseconds => Some(count.div_euclid(1000)),
            unit => count.checked_mul(unit.micros() as i64),
        };
        micros.map(Timestamp::from_micros)
    }

    pub(super) fn instant_of_fraction(self, count: f64) -> Option<Timestamp> {
        let micros = (count * self.micros()).round();
        (micros.abs() < 9e18).then(|| Timestamp::from_micros(micros as i64))
    }
}
