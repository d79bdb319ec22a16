//! The lines of a text, one at a time, without copying each.

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;

use crate::error::{Place, ReadError};

const READ_BYTES: usize = 256 * 1024;

/// Of a longer line the middle is dropped, so that binary input does not fill the memory.
const MAX_LINE_BYTES: usize = 4 << 20;

/// A line without its end.
pub struct Line<'l> {
    pub bytes: &'l [u8],
    /// Counted from 1.
    pub number: u64,
    /// False for a last line without a line end: it may be cut, even inside a number.
    pub is_complete: bool,
}

impl<'l> Line<'l> {
    pub fn place(&self) -> Place {
        Place::Line(self.number)
    }

    pub fn text(&self) -> Cow<'l, str> {
        String::from_utf8_lossy(self.bytes)
    }
}

pub struct Lines<R> {
    from: R,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    number: u64,
    is_at_end: bool,
    is_complete: bool,
    error: Option<io::Error>,
}

impl<R: Read> Lines<R> {
    pub fn new(from: R) -> Lines<R> {
        Lines {
            from,
            buffer: vec![0; READ_BYTES],
            begin: 0,
            end: 0,
            number: 0,
            is_at_end: false,
            is_complete: true,
            error: None,
        }
    }

    /// The number of the line returned last, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// False if the line returned last has no line end.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The next line without its end. An error is returned only after all that was read before it.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        let range = self.next_range()?;
        Ok(range.map(|range| without_return(&self.buffer[range])))
    }

    fn next_range(&mut self) -> io::Result<Option<Range<usize>>> {
        let mut searched = self.begin;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let line = self.begin..searched + at;
                self.begin = line.end + 1;
                self.number += 1;
                return Ok(Some(line));
            }
            if self.is_at_end {
                return self.last_range();
            }
            let known = self.end - self.begin;
            self.fill();
            searched = self.begin + known.min(self.end - self.begin);
        }
    }

    /// Like [`next_line`](Self::next_line), with the position of the line or of the error.
    pub fn read_line(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        let number = self.number + 1;
        match self.next_range() {
            Ok(None) => Ok(None),
            Ok(Some(range)) => {
                let bytes = without_return(&self.buffer[range]);
                Ok(Some(Line { bytes, number, is_complete: self.is_complete }))
            }
            Err(error) => Err(ReadError::Io { place: Place::Line(number), error }),
        }
    }

    /// The text after the last line end, or the error that reading ended with.
    fn last_range(&mut self) -> io::Result<Option<Range<usize>>> {
        let line = self.begin..self.end;
        self.begin = self.end;
        if !line.is_empty() {
            self.is_complete = false;
            self.number += 1;
            return Ok(Some(line));
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => Ok(None),
        }
    }

    fn fill(&mut self) {
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        if self.end >= MAX_LINE_BYTES {
            self.end = MAX_LINE_BYTES / 2;
        }
        if self.end + READ_BYTES / 2 > self.buffer.len() {
            self.buffer.resize(self.end + READ_BYTES, 0);
        }
        loop {
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.is_at_end = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.is_at_end = true;
                    self.error = Some(error);
                }
            }
            return;
        }
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Lines::new(text);
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            all.push(line.to_vec());
        }
        all
    }

    #[test]
    fn lines_of_all_lengths_and_ends_are_complete() {
        let long = vec![b'x'; 3 * READ_BYTES];
        let text = [b"a\r\n\n".as_slice(), &long, b"\nlast"].concat();
        assert_eq!(lines(&text), [b"a".to_vec(), vec![], long, b"last".to_vec()]);
    }

    #[test]
    fn a_very_long_line_takes_little_memory() {
        let mut lines = Lines::new(io::repeat(b'x').take(64 << 20));
        assert!(lines.next_line().unwrap().is_some());
        assert!(lines.buffer.len() <= 2 * MAX_LINE_BYTES);
    }

    #[test]
    fn an_error_follows_the_lines_before_it() {
        struct Broken(u8);
        impl Read for Broken {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                if self.0 > 1 {
                    return Err(io::Error::other("torn"));
                }
                buffer[..3].copy_from_slice(b"a\nb");
                Ok(3)
            }
        }
        let mut lines = Lines::new(Broken(0));
        assert_eq!(lines.next_line().unwrap(), Some(b"a".as_slice()));
        assert_eq!(lines.next_line().unwrap(), Some(b"b".as_slice()));
        assert!(lines.next_line().is_err());
    }
}
