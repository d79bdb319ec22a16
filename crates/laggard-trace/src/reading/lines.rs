//! The lines of a text, one at a time, without a copy of each.

use std::io::{self, Read};

use super::{Place, ReadError};

/// What is read at once.
const PIECE: usize = 256 * 1024;

/// A line longer than this is no line: what is over is passed by.
const MOST_BYTES: usize = 4 << 20;

/// The lines of a text.
pub struct Lines<R> {
    from: R,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    number: u64,
    is_at_end: bool,
    is_whole: bool,
    error: Option<io::Error>,
}

impl<R: Read> Lines<R> {
    /// The lines of what is read `from` there.
    pub fn new(from: R) -> Lines<R> {
        Lines {
            from,
            buffer: vec![0; PIECE],
            begin: 0,
            end: 0,
            number: 0,
            is_at_end: false,
            is_whole: true,
            error: None,
        }
    }

    /// The number of the line that was last given, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether the line that was last given had an end, and not only what comes before it.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The next line, without its end. What could be read before an error is given first.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        let mut searched = self.begin;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let line = self.begin..searched + at;
                self.begin = line.end + 1;
                self.number += 1;
                return Ok(Some(without_return(&self.buffer[line])));
            }
            if self.is_at_end {
                return self.last_line();
            }
            let known = self.end - self.begin;
            self.fill();
            searched = self.begin + known.min(self.end - self.begin);
        }
    }

    /// The next line without the spaces around it, and its place.
    pub fn next_told(&mut self) -> Result<Option<(Place, &[u8])>, ReadError> {
        let place = Place::Line(self.number + 1);
        match self.next_line() {
            Ok(line) => Ok(line.map(|line| (place, line.trim_ascii()))),
            Err(error) => Err(ReadError::Io { place, error }),
        }
    }

    /// What comes after the last end of a line, or the error that reading ended with.
    fn last_line(&mut self) -> io::Result<Option<&[u8]>> {
        let line = self.begin..self.end;
        self.begin = self.end;
        if !line.is_empty() {
            self.is_whole = false;
            self.number += 1;
            return Ok(Some(without_return(&self.buffer[line])));
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
        if self.end >= MOST_BYTES {
            self.end = MOST_BYTES / 2;
        }
        if self.end + PIECE / 2 > self.buffer.len() {
            self.buffer.resize(self.end + PIECE, 0);
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
    fn lines_of_all_lengths_and_ends_come_whole() {
        let long = vec![b'x'; 3 * PIECE];
        let text = [b"a\r\n\n".as_slice(), &long, b"\nlast"].concat();
        assert_eq!(lines(&text), [b"a".to_vec(), vec![], long, b"last".to_vec()]);
    }

    #[test]
    fn a_file_that_is_one_endless_line_takes_little_memory() {
        let mut lines = Lines::new(io::repeat(b'x').take(64 << 20));
        assert!(lines.next_line().unwrap().is_some());
        assert!(lines.buffer.len() <= 2 * MOST_BYTES);
    }

    #[test]
    fn an_error_comes_after_what_could_be_read() {
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
