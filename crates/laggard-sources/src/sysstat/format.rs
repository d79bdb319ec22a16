//! The formats of sa files, and what tells them apart.

use laggard_input::{Place, ReadError};

use super::layout::Groups;

/// What every file starts with, in the writer's byte order.
const SYSSTAT_MAGIC: u16 = 0xd596;

/// The size of a struct, and what it starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Bytes from one to the next.
    pub size: usize,
    /// Its numbers.
    pub groups: Groups,
}

/// Which of an activity's 32-bit words says what; the first is always its id.
#[derive(Clone, Copy, Debug)]
pub struct ActivityWords {
    /// The version of its counters.
    pub magic: Option<u32>,
    /// How many items a record has.
    pub items: u32,
    /// How many parts an item has.
    pub parts: Option<u32>,
    /// Whether each record says how many items it has.
    pub counted: Option<u32>,
    /// Bytes of a part.
    pub size: u32,
    /// Three words: what a part starts with.
    pub groups: Option<u32>,
}

/// What follows the header of a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Nothing.
    Bare,
    /// Activities whose number of items changed.
    Activities,
    /// The number of CPUs.
    Cpus,
}

/// One of the formats of sa files.
#[derive(Debug)]
pub struct Format {
    /// Its number in the file.
    pub magic: u16,
    /// Bytes of the file's first struct.
    pub magic_bytes: usize,
    /// The file's header, before the file says otherwise.
    pub header: Struct,
    /// An activity's description, before the file says otherwise.
    pub activity: Struct,
    /// A record's header, before the file says otherwise.
    pub record: Struct,
    /// Which word of the file's header counts the activities.
    pub activities: u32,
    /// Which one counts those that change at a restart.
    pub volatiles: Option<u32>,
    /// How an activity is described.
    pub words: ActivityWords,
    /// How a restart goes on.
    pub restart: Restart,
    /// Whether the file says what its structs hold.
    pub describes_itself: bool,
}

/// All formats since 8.1.3. The last one stayed: it describes itself.
static FORMATS: [Format; 5] = [
    PLAIN,
    // Red Hat's, from Enterprise Linux 6.5 on: only an activity that we do not want is different.
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

/// Whether a file that starts so is an sa file. Four bytes suffice.
pub fn recognises(start: &[u8]) -> bool {
    start.first_chunk().and_then(byte_order).is_some_and(|(_, format)| matches!(format >> 8, 0x21 | 0x11))
}

/// Whether the most significant byte comes first, and the number of the format.
fn byte_order(start: &[u8; 4]) -> Option<(bool, u16)> {
    let [a, b, c, d] = *start;
    match SYSSTAT_MAGIC {
        magic if u16::from_le_bytes([a, b]) == magic => Some((false, u16::from_le_bytes([c, d]))),
        magic if u16::from_be_bytes([a, b]) == magic => Some((true, u16::from_be_bytes([c, d]))),
        _ => None,
    }
}

/// The format of a file that starts so, and whether the most significant byte comes first.
pub fn of(start: &[u8; 4]) -> Result<(&'static Format, bool), ReadError> {
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
