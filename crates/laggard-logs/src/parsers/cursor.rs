//! Steps through the bytes of a line.

use memchr::memchr;

/// The unread rest of a line.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'l>(pub(super) &'l [u8]);

impl<'l> Cursor<'l> {
    /// Skips these bytes if they are next.
    pub(super) fn skip(&mut self, bytes: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(bytes)?;
        Some(())
    }

    /// The bytes before the next `byte`, which is skipped.
    pub(super) fn until(&mut self, byte: u8) -> Option<&'l [u8]> {
        let (before, rest) = self.0.split_at(memchr(byte, self.0)?);
        self.0 = rest.split_first()?.1;
        Some(before)
    }

    /// The same; the end of the line also counts.
    pub(super) fn word(&mut self) -> &'l [u8] {
        let mut rest = *self;
        match rest.until(b' ') {
            Some(word) => {
                self.0 = rest.0;
                word
            }
            None => std::mem::take(&mut self.0),
        }
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Option<&'l [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// The digits that are next; at least one, at most 18.
    pub(super) fn number(&mut self) -> Option<i64> {
        let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=18).contains(&length) {
            return None;
        }
        Some(digits(self.take(length)?))
    }

    pub(super) fn blanks(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }
}

/// The value of digits.
pub(super) fn digits(bytes: &[u8]) -> i64 {
    bytes.iter().fold(0, |value, byte| value * 10 + i64::from(byte - b'0'))
}

/// The next bytes as a number, if all are digits.
pub(super) fn fixed(cursor: &mut Cursor<'_>, count: usize) -> Option<i64> {
    let bytes = cursor.take(count)?;
    bytes.iter().all(u8::is_ascii_digit).then(|| digits(bytes))
}

/// The value of hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> Option<u32> {
    if !(1..=8).contains(&bytes.len()) {
        return None;
    }
    bytes.iter().try_fold(0, |value, byte| Some(value << 4 | char::from(*byte).to_digit(16)?))
}
