//! The bytes of a file, with the position for error messages.

use laggard_input::{Place, ReadError};

use std::fmt;
use std::io::{BufRead, ErrorKind};

/// A section of the file, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Magic,
    Header,
    Activities,
    /// Structs of a later version, described by the file.
    Extra,
    RecordHeader,
    /// The data after the header of a restart.
    Restart,
    Comment,
    /// By activity id.
    Counters(u32),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Magic => f.write_str("the magic numbers"),
            Part::Header => f.write_str("the file header"),
            Part::Activities => f.write_str("the list of activities"),
            Part::Extra => f.write_str("an extension"),
            Part::RecordHeader => f.write_str("a record header"),
            Part::Restart => f.write_str("a restart record"),
            Part::Comment => f.write_str("a comment record"),
            Part::Counters(id) => write!(f, "the counters of activity {id}"),
        }
    }
}

pub(super) struct Bytes<'a> {
    input: &'a mut dyn BufRead,
    at: u64,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(input: &'a mut dyn BufRead) -> Self {
        Bytes { input, at: 0 }
    }

    /// Bytes read or skipped.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    pub(super) fn ended(&mut self) -> Result<bool, ReadError> {
        Ok(self.available()?.is_empty())
    }

    pub(super) fn fill(&mut self, target: &mut [u8], part: Part) -> Result<(), ReadError> {
        let mut filled = 0;
        while filled < target.len() {
            let available = self.available()?;
            if available.is_empty() {
                return Err(self.truncated(part));
            }
            let count = available.len().min(target.len() - filled);
            target[filled..filled + count].copy_from_slice(&available[..count]);
            self.consume(count);
            filled += count;
        }
        Ok(())
    }

    pub(super) fn array<const N: usize>(&mut self, part: Part) -> Result<[u8; N], ReadError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, part)?;
        Ok(bytes)
    }

    /// Skips bytes without holding them.
    pub(super) fn skip(&mut self, count: u64, part: Part) -> Result<(), ReadError> {
        let mut left = count;
        while left > 0 {
            let available = self.available()?.len();
            if available == 0 {
                return Err(self.truncated(part));
            }
            let step = usize::try_from(left).map_or(available, |left| left.min(available));
            self.consume(step);
            left -= step as u64;
        }
        Ok(())
    }

    fn available(&mut self) -> Result<&[u8], ReadError> {
        // `fill_buf` is called twice, since a loop cannot return what it borrows; the second call returns the buffer
        // immediately.
        loop {
            match self.input.fill_buf() {
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(ReadError::Io { place: Place::Byte(self.at), error }),
            }
        }
        let place = Place::Byte(self.at);
        self.input.fill_buf().map_err(|error| ReadError::Io { place, error })
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
        self.at += count as u64;
    }

    fn truncated(&self, part: Part) -> ReadError {
        ReadError::Truncated { place: Place::Byte(self.at), within: part.to_string() }
    }
}
