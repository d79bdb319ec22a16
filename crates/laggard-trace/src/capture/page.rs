//! A page of the kernel's ring buffer: records with time differences.

use super::CaptureError;

/// The layout of a page, from `events/header_page`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Position of the length of the used part.
    pub commit_offset: usize,
    /// Bytes of that length.
    pub commit_size: usize,
    /// Position of the first record.
    pub data_offset: usize,
}

/// 64-bit kernels.
impl Default for Header {
    fn default() -> Header {
        Header { commit_offset: 8, commit_size: 8, data_offset: 16 }
    }
}

impl Header {
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

/// The upper bits of the length are flags.
const LENGTH: u64 = (1 << 27) - 1;
/// Records before this page were overwritten.
const HAS_LOST: u64 = 1 << 31;
/// The number of lost records follows the last record.
const LOSS_IS_COUNTED: u64 = 1 << 30;

/// Entries other than records, in the five bits that otherwise hold the length of a record.
const PADDING: u32 = 29;
const TIME_EXTENSION: u32 = 30;
const ABSOLUTE_TIME: u32 = 31;
const DELTA_BITS: u32 = 27;
/// Absolute times have only these bits; the upper ones are those of the previous time.
const ABSOLUTE: u64 = (1 << 59) - 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    None,
    Counted(u64),
    /// The page had no space for the number.
    Unknown,
}

#[derive(Debug)]
pub struct Page<'a> {
    left: &'a [u8],
    time_ns: u64,
    /// Before this page.
    pub lost: Loss,
    is_damaged: bool,
}

impl<'a> Page<'a> {
    pub fn open(bytes: &'a [u8], header: Header) -> Result<Page<'a>, CaptureError> {
        let short = || CaptureError::Page { expected: "a header of the ring buffer", at: 0 };
        let time_ns = number(bytes.get(..8).ok_or_else(short)?);
        let commit = bytes.get(header.commit_offset..).and_then(|rest| rest.get(..header.commit_size));
        let commit = number(commit.ok_or_else(short)?);
        let length = (commit & LENGTH) as usize;
        let data = bytes.get(header.data_offset..).ok_or_else(short)?;
        let filled = data
            .get(..length)
            .ok_or(CaptureError::Page { expected: "as many bytes as the header states", at: bytes.len() })?;
        let lost = match (commit & HAS_LOST != 0, commit & LOSS_IS_COUNTED != 0) {
            (false, _) => Loss::None,
            (true, true) => {
                data.get(length..length + 8).map_or(Loss::Unknown, |bytes| Loss::Counted(number(bytes)))
            }
            (true, false) => Loss::Unknown,
        };
        Ok(Page { left: filled, time_ns, lost, is_damaged: false })
    }

    /// True if an entry exceeded the page. The records before it are valid.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Removes `length` bytes; if there are fewer, the page is damaged and ends.
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

    /// An entry with its length in the first word, which is included in the length.
    fn counted(&mut self) -> Option<&'a [u8]> {
        let length = self.word()? as usize;
        let aligned = length.saturating_sub(4).checked_next_multiple_of(4).unwrap_or(usize::MAX);
        self.take(aligned)
    }
}

/// Time and bytes of each record.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Recorded pages: four reads and the start of a program; a buffer that overran.
    const COMMAND: &[u8] = include_bytes!("../../tests/fixtures/capture/command.page");
    const LOSSY: &[u8] = include_bytes!("../../tests/fixtures/capture/lossy.page");
    const HEADER: &str = include_str!("../../tests/fixtures/capture/header_page");

    #[test]
    fn a_recorded_page_has_its_records_in_the_order_of_time() {
        let page = Page::open(COMMAND, Header::parse(HEADER).unwrap()).unwrap();
        assert_eq!(page.lost, Loss::None);
        let records: Vec<(u64, &[u8])> = page.collect();
        assert_eq!(records.len(), 28);
        assert_eq!(records[0].0, 5_185_182_368_980);
        assert_eq!(records[27].0 - records[0].0, 3_220_762);
        assert!(records.is_sorted_by_key(|(time, _)| *time));
    }

    #[test]
    fn a_page_after_an_overrun_reports_missing_records() {
        let mut page = Page::open(LOSSY, Header::default()).unwrap();
        assert_eq!(page.lost, Loss::Unknown);
        assert_eq!((&mut page).count(), 102);
        assert!(!page.is_damaged());
    }

    /// A page with one entry, and the number of lost records after it.
    fn page(entry: &[u32], commit: u64, lost: &[u8]) -> Vec<u8> {
        let data: Vec<u8> = entry.iter().flat_map(|word| word.to_le_bytes()).collect();
        let length = data.len() as u64;
        [&1000_u64.to_le_bytes()[..], &(length | commit).to_le_bytes(), &data, lost].concat()
    }

    fn times(bytes: &[u8]) -> Vec<u64> {
        Page::open(bytes, Header::default()).unwrap().map(|(time, _)| time).collect()
    }

    #[test]
    fn time_extensions_add_and_absolute_times_replace() {
        // A record of one word, five nanoseconds later.
        let record = [5 << 5 | 1, 7];
        assert_eq!(times(&page(&record, 0, &[])), [1005]);
        assert_eq!(times(&page(&[3 << 5 | TIME_EXTENSION, 1, record[0], 7], 0, &[])), [1008 + (1 << 27)]);
        assert_eq!(times(&page(&[3 << 5 | ABSOLUTE_TIME, 2, record[0], 7], 0, &[])), [8 + (2 << 27)]);
        assert_eq!(times(&page(&[2 << 5 | PADDING, 8, 0, record[0], 7], 0, &[])), [1007]);
        assert_eq!(times(&page(&[PADDING, 0, record[0], 7], 0, &[])), [0; 0]);
    }

    #[test]
    fn long_records_have_their_length_in_a_word() {
        let bytes = page(&[1 << 5, 12, 8, 9], 0, &[]);
        let records: Vec<(u64, &[u8])> = Page::open(&bytes, Header::default()).unwrap().collect();
        assert_eq!(records, [(1001, &[8, 0, 0, 0, 9, 0, 0, 0][..])]);
    }

    #[test]
    fn lost_records_are_counted_where_the_page_has_room_for_it() {
        let counted = page(&[1 << 5 | 1, 7], HAS_LOST | LOSS_IS_COUNTED, &77_u64.to_le_bytes());
        assert_eq!(Page::open(&counted, Header::default()).unwrap().lost, Loss::Counted(77));
        let cut = page(&[1 << 5 | 1, 7], HAS_LOST | LOSS_IS_COUNTED, &[]);
        assert_eq!(Page::open(&cut, Header::default()).unwrap().lost, Loss::Unknown);
    }

    #[test]
    fn a_page_that_is_cut_gives_what_comes_before() {
        let bytes = page(&[1 << 5 | 1, 7, 1 << 5 | 9, 7], 0, &[]);
        let mut page = Page::open(&bytes, Header::default()).unwrap();
        assert_eq!((&mut page).count(), 1);
        assert!(page.is_damaged());
        assert!(
            Page::open(&COMMAND[..1000], Header::default()).is_err()
                && Page::open(&[], Header::default()).is_err()
        );
        assert!(Header::parse("field: u64 timestamp;").is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic_or_an_endless_loop(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(page) = Page::open(&bytes, Header::default()) {
                prop_assert!(page.count() <= 100);
            }
        }
    }
}
