//! A page of the kernel's ring buffer: records with the time that went by between them.

use super::CaptureError;

/// How a page begins, as `events/header_page` describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Where the length of what is filled lies.
    pub commit_offset: usize,
    /// How many bytes that length has.
    pub commit_size: usize,
    /// Where the records begin.
    pub data_offset: usize,
}

/// As 64-bit kernels have it.
impl Default for Header {
    fn default() -> Header {
        Header { commit_offset: 8, commit_size: 8, data_offset: 16 }
    }
}

impl Header {
    /// Reads `events/header_page`.
    pub fn parse(text: &str) -> Result<Header, CaptureError> {
        let wrong = || CaptureError::Format {
            event: "header_page".into(),
            expected: "the fields timestamp, commit and data".into(),
        };
        let place = |name: &str| {
            let mut lines = text.lines().map(str::trim);
            let line = lines.find(|line| line.split(';').next().is_some_and(|d| d.ends_with(name)))?;
            let value = |key: &str| line.split(';').find_map(|part| part.trim().strip_prefix(key));
            Some((value("offset:")?.parse().ok()?, value("size:")?.parse().ok()?))
        };
        let (commit_offset, commit_size) = place(" commit").ok_or_else(wrong)?;
        let (data_offset, _): (usize, usize) = place(" data").ok_or_else(wrong)?;
        match commit_size {
            4 | 8 if data_offset >= commit_offset => Ok(Header { commit_offset, commit_size, data_offset }),
            _ => Err(wrong()),
        }
    }
}

/// The low bits of the filled length; flags are above them.
const LENGTH: u64 = (1 << 27) - 1;
/// Records before this page were overwritten.
const HAS_LOST: u64 = 1 << 31;
/// How many is written behind the last record.
const LOSS_IS_COUNTED: u64 = 1 << 30;

/// Kinds of entries beyond records, in the five bits that else tell a record's length.
const PADDING: u32 = 29;
const TIME_EXTENSION: u32 = 30;
const ABSOLUTE_TIME: u32 = 31;
const DELTA_BITS: u32 = 27;
/// Absolute times have these bits; the ones above are those of the time before.
const ABSOLUTE: u64 = (1 << 59) - 1;

/// Records that were overwritten before they were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// None.
    None,
    /// So many.
    Counted(u64),
    /// Some; there was no room to say how many.
    Unknown,
}

/// A page, cut into its records.
#[derive(Debug)]
pub struct Page<'a> {
    left: &'a [u8],
    time_ns: u64,
    /// What is missing before it.
    pub lost: Loss,
    is_damaged: bool,
}

impl<'a> Page<'a> {
    /// Opens a page as it was read.
    pub fn open(bytes: &'a [u8], header: Header) -> Result<Page<'a>, CaptureError> {
        let short = || CaptureError::Page { expected: "a header of the ring buffer", at: 0 };
        let time_ns = number(bytes.get(..8).ok_or_else(short)?);
        let commit = bytes.get(header.commit_offset..).and_then(|rest| rest.get(..header.commit_size));
        let commit = number(commit.ok_or_else(short)?);
        let length = (commit & LENGTH) as usize;
        let data = bytes.get(header.data_offset..).ok_or_else(short)?;
        let filled = data
            .get(..length)
            .ok_or(CaptureError::Page { expected: "as many bytes as the header tells", at: bytes.len() })?;
        let lost = match (commit & HAS_LOST != 0, commit & LOSS_IS_COUNTED != 0) {
            (false, _) => Loss::None,
            (true, true) => {
                data.get(length..length + 8).map_or(Loss::Unknown, |bytes| Loss::Counted(number(bytes)))
            }
            (true, false) => Loss::Unknown,
        };
        Ok(Page { left: filled, time_ns, lost, is_damaged: false })
    }

    /// Whether an entry reached beyond the page. What came before it counts.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Takes `length` bytes off; a page that has fewer is damaged and ends there.
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let Some((taken, rest)) = self.left.split_at_checked(length) else {
            self.is_damaged = true;
            self.left = &[];
            return None;
        };
        self.left = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| number(bytes) as u32)
    }

    /// A word that tells the length of what follows, its own four bytes included.
    fn counted(&mut self) -> Option<&'a [u8]> {
        let length = self.word()? as usize;
        let aligned = length.saturating_sub(4).checked_next_multiple_of(4).unwrap_or(usize::MAX);
        self.take(aligned)
    }
}

/// The time and the bytes of each record.
impl<'a> Iterator for Page<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<(u64, &'a [u8])> {
        while !self.left.is_empty() {
            let head = self.word()?;
            let (kind, delta) = (head & 0x1f, u64::from(head >> 5));
            match kind {
                PADDING if delta == 0 => self.left = &[],
                PADDING => {
                    self.counted()?;
                    self.time_ns = self.time_ns.wrapping_add(delta);
                }
                TIME_EXTENSION => {
                    let high = u64::from(self.word()?);
                    self.time_ns = self.time_ns.wrapping_add((high << DELTA_BITS) + delta);
                }
                ABSOLUTE_TIME => {
                    let high = u64::from(self.word()?);
                    let low = ((high << DELTA_BITS) + delta) & ABSOLUTE;
                    self.time_ns = low | (self.time_ns & !ABSOLUTE);
                }
                _ => {
                    self.time_ns = self.time_ns.wrapping_add(delta);
                    let record = if kind == 0 { self.counted()? } else { self.take(4 * kind as usize)? };
                    return Some((self.time_ns, record));
                }
            }
        }
        None
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
