//! The start of a file: which format it is, who wrote it, and how large its structs are.

use super::bytes::{Bytes, Part};
use super::layout::{Dialect, Groups, Slot, text};
use crate::reading::{Place, ReadError};

/// What every file starts with, in the writer's byte order.
const SYSSTAT_MAGIC: u16 = 0xd596;

/// Larger ones are damaged (sysstat's own limits, as are the others below).
const MOST_HEADER_BYTES: usize = 8192;
const MOST_ACTIVITIES: u32 = 256;
const MOST_ACTIVITY_BYTES: usize = 1024;
const MOST_RECORD_HEADER_BYTES: usize = 512;

/// Seconds since 1970 that a file may speak of: 2001 (sysstat's own limit) to 9999.
pub const PLAUSIBLE_SECONDS: std::ops::Range<u64> = 1_000_000_000..253_402_300_800;

/// Room of each of the names that uname(2) gives.
const NAME_BYTES: usize = 65;

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
    magic_bytes: usize,
    /// The headers as they are before the file says otherwise.
    header: Struct,
    activity: Struct,
    record: Struct,
    /// Which words of the file's header count the activities, and those that change at a restart.
    activities: u32,
    volatiles: Option<u32>,
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

/// When a file was made: seconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// At this instant.
    At(i64),
    /// On the day that began then: the instant is damaged.
    On(i64),
}

/// What the start of a file says.
#[derive(Debug)]
pub struct Header {
    /// Its format.
    pub format: &'static Format,
    /// Its byte order and widths.
    pub dialect: Dialect,
    /// The host that wrote it.
    pub host: String,
    /// When it was made.
    pub created: Created,
    /// How many activities are listed.
    pub activities: u32,
    /// How many of them a restart lists again.
    pub volatiles: u32,
    /// How they are described.
    pub activity: Struct,
    /// How a record starts.
    pub record: Struct,
    /// Whether extensions follow the list of activities.
    pub is_extended: bool,
}

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

impl Header {
    /// Reads all that comes before the list of activities.
    pub fn read(bytes: &mut Bytes) -> Result<Header, ReadError> {
        let start = bytes.array(Part::Magic)?;
        let (big_endian, number) = byte_order(&start).ok_or_else(|| not_sysstat(&start))?;
        let format = FORMATS.iter().find(|f| f.magic == number).ok_or_else(|| unknown_format(number))?;
        let wide_room = if format.describes_itself { 8 } else { 16 };
        // Which longs the writer has stands in the header, behind fields whose places do not depend on it.
        let dialect = Dialect { big_endian, short_longs: false, wide_room };
        let size = header_struct(bytes, format, dialect)?;
        Fields::read(bytes, format, dialect, size)?.header()
    }
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

/// The rest of the first struct: the size of the header and, where the file says it, what it holds.
fn header_struct(bytes: &mut Bytes, format: &Format, dialect: Dialect) -> Result<Struct, ReadError> {
    let mut rest = [0; 72];
    bytes.fill(&mut rest[..format.magic_bytes - 4], Part::Magic)?;
    let word = |at: usize| dialect.int(&rest, at - 4).unwrap_or(0);
    let mut header = format.header;
    if format.magic_bytes > 8 {
        header.size = word(8) as usize;
    }
    if format.describes_itself {
        header.groups = Groups::new(word(16), word(20), word(24));
    }
    let place = Place::Byte(8);
    check_struct(
        place,
        "a file header",
        header,
        header_names_end(format, dialect, header),
        MOST_HEADER_BYTES,
    )?;
    Ok(header)
}

/// Where the last name ends that we read.
fn header_names_end(format: &Format, dialect: Dialect, header: Struct) -> usize {
    header.groups.end(dialect).saturating_add(date_bytes(format) + 2 * NAME_BYTES)
}

/// Day, month, in old formats the year, and the size of a long.
fn date_bytes(format: &Format) -> usize {
    if format.describes_itself { 3 } else { 4 }
}

fn check_struct(
    place: Place,
    what: &str,
    stated: Struct,
    least: usize,
    most: usize,
) -> Result<(), ReadError> {
    if (least..=most).contains(&stated.size) {
        return Ok(());
    }
    let Groups { wides, longs, ints } = stated.groups;
    let expected = match least <= most {
        true => format!("{what} of {least} to {most} bytes"),
        false => format!("{what} of at most {most} bytes"),
    };
    Err(ReadError::content(
        place,
        expected,
        format!("{} bytes that hold ({wides},{longs},{ints}) numbers", stated.size),
    ))
}

/// The file's header as it was read.
struct Fields {
    format: &'static Format,
    dialect: Dialect,
    layout: Struct,
    bytes: Vec<u8>,
    at: u64,
}

impl Fields {
    fn read(
        bytes: &mut Bytes,
        format: &'static Format,
        mut dialect: Dialect,
        layout: Struct,
    ) -> Result<Fields, ReadError> {
        let at = bytes.at();
        let mut header = vec![0; layout.size];
        bytes.fill(&mut header, Part::Header)?;
        let long_at = layout.groups.end(dialect) + date_bytes(format) - 1;
        dialect.short_longs = match header.get(long_at) {
            Some(4) => true,
            Some(8) => false,
            other => {
                let found = other.map_or("nothing".to_string(), u8::to_string);
                let place = Place::Byte(at + long_at as u64);
                return Err(ReadError::content(place, "4 or 8 as the size of the writer's long", found));
            }
        };
        Ok(Fields { format, dialect, layout, bytes: header, at })
    }

    fn header(&self) -> Result<Header, ReadError> {
        let (activity, record) = self.structs()?;
        Ok(Header {
            format: self.format,
            dialect: self.dialect,
            host: self.host(),
            created: self.created(),
            activities: self.count("activities", self.format.activities)?,
            volatiles: self.format.volatiles.map_or(Ok(0), |word| self.count("volatile activities", word))?,
            activity,
            record,
            is_extended: self.format.describes_itself
                && self.number(Slot::Int(11)).is_some_and(|next| next != 0),
        })
    }

    fn number(&self, slot: Slot) -> Option<u64> {
        self.dialect.number(&self.bytes, self.layout.groups.cell(slot, self.dialect)?)
    }

    fn word(&self, index: u32) -> Result<u32, ReadError> {
        let word = self.number(Slot::Int(index)).and_then(|word| u32::try_from(word).ok());
        word.ok_or_else(|| {
            let expected = format!("a file header with at least {} 32-bit numbers", index + 1);
            ReadError::content(Place::Byte(24), expected, self.layout.groups.ints.to_string())
        })
    }

    fn count(&self, what: &str, index: u32) -> Result<u32, ReadError> {
        let count = self.word(index)?;
        if count <= MOST_ACTIVITIES {
            return Ok(count);
        }
        let expected = format!("at most {MOST_ACTIVITIES} {what}");
        Err(ReadError::content(self.place(index), expected, count.to_string()))
    }

    fn place(&self, index: u32) -> Place {
        let cell = self.layout.groups.cell(Slot::Int(index), self.dialect);
        Place::Byte(self.at + cell.map_or(0, |cell| cell.at as u64))
    }

    /// The sizes of the structs that follow: of an activity, and of a record's header.
    fn structs(&self) -> Result<(Struct, Struct), ReadError> {
        if !self.format.describes_itself {
            return Ok((self.format.activity, self.format.record));
        }
        let groups = |first| Ok(Groups::new(self.word(first)?, self.word(first + 1)?, self.word(first + 2)?));
        let activity = Struct { size: self.word(9)? as usize, groups: groups(3)? };
        let record = Struct { size: self.word(10)? as usize, groups: groups(6)? };
        let (activity_end, record_end) = (activity.groups.end(self.dialect), record.groups.end(self.dialect));
        check_struct(self.place(9), "an activity entry", activity, activity_end, MOST_ACTIVITY_BYTES)?;
        let clock_end = record_end.saturating_add(4);
        check_struct(self.place(10), "a record header", record, clock_end, MOST_RECORD_HEADER_BYTES)?;
        Ok((activity, record))
    }

    /// Only what a host name may hold: it becomes part of component and file names.
    fn host(&self) -> String {
        let at = header_names_end(self.format, self.dialect, self.layout) - NAME_BYTES;
        let name = text(self.bytes.get(at..at + NAME_BYTES).unwrap_or_default());
        let allowed = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        match name.trim() {
            "" => "unknown".to_string(),
            name => name.chars().map(allowed).collect(),
        }
    }

    fn created(&self) -> Created {
        let slot = if self.format.describes_itself { Slot::Wide(0) } else { Slot::Long(0) };
        let instant = self.number(slot).filter(|instant| PLAUSIBLE_SECONDS.contains(instant));
        match instant {
            Some(instant) => Created::At(instant.cast_signed()),
            None => Created::On(self.date().unwrap_or(0)),
        }
    }

    /// The midnight before the file was made.
    fn date(&self) -> Option<i64> {
        let bytes = self.bytes.get(self.layout.groups.end(self.dialect)..)?;
        let (day, month) = (i8::try_from(*bytes.first()?).ok()?, i8::try_from(*bytes.get(1)?).ok()?);
        let year = match self.format.describes_itself {
            true => i16::try_from(self.number(Slot::Int(2))?).ok()?,
            false => i16::from(*bytes.get(2)?),
        };
        // Years count from 1900; some writers put the full year.
        let year = if year < 1900 { year + 1900 } else { year };
        let date = jiff::civil::Date::new(year, month.checked_add(1)?, day).ok()?;
        Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second())
    }
}
