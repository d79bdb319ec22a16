//! The formats of sa files and their magic numbers.

use laggard_input::{Place, ReadError};

use super::layout::Groups;

/// The first two bytes of every file, in the writer's byte order.
const SYSSTAT_MAGIC: u16 = 0xd596;

/// The size of a struct and its field groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Struct {
    pub size: usize,
    pub groups: Groups,
}

/// The index of each property among an activity's 32-bit words; the first word is always the id.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActivityWords {
    /// The version of the counters.
    pub magic: Option<u32>,
    /// Items per record.
    pub items: u32,
    /// Parts per item.
    pub parts: Option<u32>,
    /// Nonzero if each record states its number of items.
    pub counted: Option<u32>,
    /// Bytes per part.
    pub size: u32,
    /// Three words: the field groups of a part.
    pub groups: Option<u32>,
}

/// The data after the header of a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restart {
    Bare,
    /// Activities with a changed number of items.
    Activities,
    /// The number of CPUs.
    Cpus,
}

#[derive(Debug)]
pub(super) struct Format {
    pub magic: u16,
    /// The size of the file's first struct.
    pub magic_bytes: usize,
    /// Unless the file states otherwise.
    pub header: Struct,
    /// Unless the file states otherwise.
    pub activity: Struct,
    /// Unless the file states otherwise.
    pub record: Struct,
    /// The word of the file header with the number of activities.
    pub activities: u32,
    /// The word with the number of those that change at a restart.
    pub volatiles: Option<u32>,
    pub words: ActivityWords,
    pub restart: Restart,
    /// True if the file describes its own structs.
    pub describes_itself: bool,
}

/// All formats since 8.1.3. The last one did not change again: it describes itself.
static FORMATS: [Format; 5] = [
    PLAIN,
    // Red Hat's, from Enterprise Linux 6.5 on: differs only in an activity that is not needed.
    Format { magic: 0x1170, ..PLAIN },
    Format { magic: 0x2171, activity: FIVE_WORDS, words: WORDS_WITH_MAGIC, ..PLAIN },
    Format {
        magic: 0x2173,
        magic_bytes: 76,
        header: Struct { size: 288, groups: Groups::new(0, 1, 3) },
        activity: FIVE_WORDS,
        activities: 1,
        volatiles: Some(2),
        words: WORDS_WITH_MAGIC,
        restart: Restart::Activities,
        ..PLAIN
    },
    Format {
        magic: 0x2175,
        magic_bytes: 76,
        header: Struct { size: 336, groups: Groups::new(1, 1, 12) },
        activity: Struct { size: 36, groups: Groups::new(0, 0, 9) },
        record: Struct { size: 24, groups: Groups::new(2, 0, 1) },
        activities: 1,
        volatiles: None,
        words: ActivityWords {
            magic: Some(1),
            items: 2,
            parts: Some(3),
            counted: Some(4),
            size: 5,
            groups: Some(6),
        },
        restart: Restart::Cpus,
        describes_itself: true,
    },
];

const PLAIN: Format = Format {
    magic: 0x2170,
    magic_bytes: 8,
    header: Struct { size: 280, groups: Groups::new(0, 1, 1) },
    activity: Struct { size: 12, groups: Groups::new(0, 0, 3) },
    record: Struct { size: 48, groups: Groups::new(2, 1, 0) },
    activities: 0,
    volatiles: None,
    words: ActivityWords { magic: None, items: 1, parts: None, counted: None, size: 2, groups: None },
    restart: Restart::Bare,
    describes_itself: false,
};
const FIVE_WORDS: Struct = Struct { size: 20, groups: Groups::new(0, 0, 5) };
const WORDS_WITH_MAGIC: ActivityWords =
    ActivityWords { magic: Some(1), items: 2, parts: Some(3), counted: None, size: 4, groups: None };

/// Four bytes are enough.
pub fn recognises(start: &[u8]) -> bool {
    start.first_chunk().and_then(byte_order).is_some_and(|(_, format)| matches!(format >> 8, 0x21 | 0x11))
}

/// True for big-endian, and the magic number of the format.
fn byte_order(start: &[u8; 4]) -> Option<(bool, u16)> {
    let [a, b, c, d] = *start;
    match SYSSTAT_MAGIC {
        magic if u16::from_le_bytes([a, b]) == magic => Some((false, u16::from_le_bytes([c, d]))),
        magic if u16::from_be_bytes([a, b]) == magic => Some((true, u16::from_be_bytes([c, d]))),
        _ => None,
    }
}

/// The format, and true for big-endian.
pub(super) fn of(start: &[u8; 4]) -> Result<(&'static Format, bool), ReadError> {
    let (big_endian, number) = byte_order(start).ok_or_else(|| not_sysstat(start))?;
    let format = FORMATS.iter().find(|format| format.magic == number);
    Ok((format.ok_or_else(|| unknown_format(number))?, big_endian))
}

fn not_sysstat(start: &[u8; 4]) -> ReadError {
    let [a, b, c, d] = start;
    ReadError::content(
        Place::Byte(0),
        "the magic number 0xd596 of a sysstat data file",
        format!("bytes {a:02x} {b:02x} {c:02x} {d:02x}"),
    )
}

fn unknown_format(number: u16) -> ReadError {
    let known: Vec<String> = FORMATS.iter().map(|f| format!("{:#06x}", f.magic)).collect();
    let expected = format!("a format of sysstat 8.1.3 or later ({})", known.join(", "));
    ReadError::content(Place::Byte(2), expected, format!("{number:#06x}"))
}
