//! The start of a file: its host, its creation time, and the sizes of its structs.

use laggard_input::{Place, ReadError};

use super::bytes::{Bytes, Part};
use super::format::{self, Format, Struct};
use super::layout::{Dialect, Groups, Slot, text};

/// Larger values are damaged (sysstat's own limits, like the others below).
const MAX_HEADER_BYTES: usize = 8192;
const MAX_ACTIVITIES: u32 = 256;
const MAX_ACTIVITY_BYTES: usize = 1024;
const MAX_RECORD_HEADER_BYTES: usize = 512;

/// Plausible times in seconds since 1970: 2001 (sysstat's own limit) to 9999.
pub(super) const PLAUSIBLE_SECONDS: std::ops::Range<u64> = 1_000_000_000..253_402_300_800;

/// The size of each name of uname(2).
const NAME_BYTES: usize = 65;

/// The creation time of a file: seconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Created {
    At(i64),
    /// The start of the day: the instant is damaged.
    On(i64),
}

#[derive(Debug)]
pub(super) struct Header {
    pub format: &'static Format,
    pub dialect: Dialect,
    pub host: String,
    pub created: Created,
    /// The number of listed activities.
    pub activities: u32,
    /// The number of activities that a restart lists again.
    pub volatiles: u32,
    pub activity: Struct,
    pub record: Struct,
    /// True if extensions follow the list of activities.
    pub is_extended: bool,
}

impl Header {
    /// Reads up to the list of activities.
    pub(super) fn read(bytes: &mut Bytes) -> Result<Header, ReadError> {
        let start = bytes.array(Part::Magic)?;
        let (format, big_endian) = format::of(&start)?;
        let wide_room = if format.describes_itself { 8 } else { 16 };
        // The width of the writer's longs is stated in the header, after fields whose offsets do not depend on it.
        let dialect = Dialect { big_endian, short_longs: false, wide_room };
        let size = header_struct(bytes, format, dialect)?;
        Fields::read(bytes, format, dialect, size)?.header()
    }
}

/// The rest of the first struct: the size of the header and, if stated, its field groups.
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
        MAX_HEADER_BYTES,
    )?;
    Ok(header)
}

/// The end of the last name that is read.
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
        if count <= MAX_ACTIVITIES {
            return Ok(count);
        }
        let expected = format!("at most {MAX_ACTIVITIES} {what}");
        Err(ReadError::content(self.place(index), expected, count.to_string()))
    }

    fn place(&self, index: u32) -> Place {
        let cell = self.layout.groups.cell(Slot::Int(index), self.dialect);
        Place::Byte(self.at + cell.map_or(0, |cell| cell.at as u64))
    }

    /// The layouts of an activity and of a record header.
    fn structs(&self) -> Result<(Struct, Struct), ReadError> {
        if !self.format.describes_itself {
            return Ok((self.format.activity, self.format.record));
        }
        let groups = |first| -> Result<Groups, ReadError> {
            Ok(Groups::new(self.word(first)?, self.word(first + 1)?, self.word(first + 2)?))
        };
        let activity = Struct { size: self.word(9)? as usize, groups: groups(3)? };
        let record = Struct { size: self.word(10)? as usize, groups: groups(6)? };
        let (activity_end, record_end) = (activity.groups.end(self.dialect), record.groups.end(self.dialect));
        check_struct(self.place(9), "an activity entry", activity, activity_end, MAX_ACTIVITY_BYTES)?;
        let clock_end = record_end.saturating_add(4);
        check_struct(self.place(10), "a record header", record, clock_end, MAX_RECORD_HEADER_BYTES)?;
        Ok((activity, record))
    }

    /// Only characters of a host name: it becomes part of component and file names.
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

    /// Midnight before the creation of the file.
    fn date(&self) -> Option<i64> {
        let bytes = self.bytes.get(self.layout.groups.end(self.dialect)..)?;
        let (day, month) = (i8::try_from(*bytes.first()?).ok()?, i8::try_from(*bytes.get(1)?).ok()?);
        let year = match self.format.describes_itself {
            true => i16::try_from(self.number(Slot::Int(2))?).ok()?,
            false => i16::from(*bytes.get(2)?),
        };
        // Years count from 1900; some writers store the full year.
        let year = if year < 1900 { year + 1900 } else { year };
        let date = jiff::civil::Date::new(year, month.checked_add(1)?, day).ok()?;
        Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second())
    }
}
