//! Lines of text, and an account of those that could not be read.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use crate::gathering::Gathering;
use crate::reading::{Place, ReadError};

/// No tool prints longer lines: what is longer is no text, and is not kept in memory.
const LONGEST: u64 = 1 << 20;

/// Lines of a text, one at a time.
pub(crate) struct Lines<'r> {
    input: &'r mut dyn BufRead,
    buffer: Vec<u8>,
    number: u64,
}

impl<'r> Lines<'r> {
    /// Before the first line.
    pub(crate) fn new(input: &'r mut dyn BufRead) -> Self {
        Lines { input, buffer: Vec::new(), number: 0 }
    }

    /// Goes to the next line; false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool, ReadError> {
        self.buffer.clear();
        let taken = (&mut *self.input).take(LONGEST).read_until(b'\n', &mut self.buffer);
        let taken = taken.map_err(|error| ReadError::Io { place: Place::Line(self.number + 1), error })?;
        self.number += 1;
        Ok(taken > 0)
    }

    /// The line, without its end.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        let text = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        String::from_utf8_lossy(text.strip_suffix(b"\r").unwrap_or(text))
    }

    /// Whether it has an end. The tools end every line: one without was cut, maybe within a number.
    pub(crate) fn is_whole(&self) -> bool {
        self.buffer.ends_with(b"\n")
    }

    /// Its number, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

/// Lines that could not be read: how many, and the first of them.
#[derive(Default)]
pub(crate) struct BadLines {
    count: u64,
    first: Option<(u64, String)>,
}

impl BadLines {
    /// Counts one.
    pub(crate) fn add(&mut self, number: u64, text: &str) {
        self.count += 1;
        self.first.get_or_insert_with(|| (number, shortened(text)));
    }

    /// Tells of them; where no row could be read at all, that is an error.
    pub(crate) fn settle(self, gathering: &mut Gathering<'_>, expected: &str) -> Result<(), ReadError> {
        if gathering.rows() == 0 {
            let (place, found) = match self.first {
                Some((number, text)) => (Place::Line(number), text),
                None => (Place::Whole, "none".to_owned()),
            };
            return Err(ReadError::content(place, expected, found));
        }
        if let Some((number, text)) = self.first {
            let count = self.count;
            gathering.note(
                None,
                format!("unreadable lines left out: {count}, the first is line {number}: {text}"),
            );
        }
        Ok(())
    }
}

/// As much of a text as fits into a message.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}
