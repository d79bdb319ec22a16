//! The file's bytes, read in order and counted, so that every error says where.

use laggard_input::{Place, ReadError};

use std::fmt;
use std::io::{BufRead, ErrorKind};

/// A part of the file, for messages.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// The first struct: magic numbers and sizes.
    Magic,
    /// The file's header.
    Header,
    /// The list of recorded activities.
    Activities,
    /// Structs of a later version, described by the file.
    Extra,
    /// A record's header.
    RecordHeader,
    /// What follows the header of a restart.
    Restart,
    /// The text of a comment.
    Comment,
    /// The counters of one activity.
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

/// A file being read from its start to its end.
pub struct Bytes<'a> {
    input: &'a mut dyn BufRead,
    at: u64,
}

impl<'a> Bytes<'a> {
    /// Starts at byte 0.
    pub fn new(input: &'a mut dyn BufRead) -> Self {
        Bytes { input, at: 0 }
    }

    /// How many bytes were read or skipped.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Whether there is nothing more.
    pub fn ended(&mut self) -> Result<bool, ReadError> {
        Ok(self.available()?.is_empty())
    }

    /// Fills the whole of `target`.
    pub fn fill(&mut self, target: &mut [u8], part: Part) -> Result<(), ReadError> {
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

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self, part: Part) -> Result<[u8; N], ReadError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, part)?;
        Ok(bytes)
    }

    /// Passes over bytes, without holding them.
    pub fn skip(&mut self, count: u64, part: Part) -> Result<(), ReadError> {
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
        // Asked twice, since a loop cannot return what it borrows; the second time the buffer is there.
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
