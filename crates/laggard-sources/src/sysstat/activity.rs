//! What is recorded: the list at the start of a file, matched with what we know how to read.

use laggard_core::model::schema::Schema;

use super::bytes::{Bytes, Part};
use super::header::{Header, Struct};
use super::layout::{Cell, Dialect, Groups, Slot};
use crate::reading::{Note, Place, ReadError, Sink};

/// The tables that an sa file can fill.
pub static TABLES: [&str; 4] = ["disk", "net", "tcp", "pressure"];

/// Ids up to this one exist in sysstat 12.8; those that are not in [`KNOWN`] are passed over silently.
const LAST_ID: u32 = 43;

/// Larger ones are damaged (sysstat's own limits).
pub const MOST_ITEMS: u32 = 65536 * 4096;
const MOST_PARTS: u32 = 4096;
const MOST_ITEM_BYTES: u32 = 1024;

/// The activity that counts CPUs: how many there are is told at a restart.
pub const CPU: u32 = 1;

/// What tells the items of an activity apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    /// There is one item, the host.
    Host,
    /// A name of 16 bytes behind the numbers.
    Interface,
    /// The numbers called [`MAJOR`] and [`MINOR`].
    Device,
}

const INTERFACE_BYTES: usize = 16;
const MAJOR: &str = "major";
const MINOR: &str = "minor";
/// A field that we have no use for.
const UNUSED: &str = "";

/// One version of an activity's counters: the table's columns that they fill, group by group.
struct Known {
    id: u32,
    magics: &'static [u32],
    /// Of the format that describes itself: the file may have fewer fields in a group than listed, or more.
    is_described: bool,
    table: &'static str,
    identity: Identity,
    wides: &'static [&'static str],
    longs: &'static [&'static str],
    ints: &'static [&'static str],
}

const TRAFFIC: &[&str] =
    &["rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_compressed", "tx_compressed", "rx_multicast"];
const FAILURES: &[&str] = &[
    "tx_collisions",
    "rx_errors",
    "tx_errors",
    "rx_drops",
    "tx_drops",
    "rx_fifo",
    "tx_fifo",
    "rx_frame",
    "tx_carrier",
];
const OPENS_AND_SEGMENTS: &[&str] = &["active_opens", "passive_opens", "in_segs", "out_segs"];
const TCP_FAILURES: &[&str] = &["attempt_fails", "estab_resets", "retrans_segs", "in_errs", "out_rsts"];
const DISK_TICKS: &[&str] =
    &["read_ms", "write_ms", "io_ms", "weighted_ms", MAJOR, MINOR, "discard_ms", UNUSED];

const DISK: Known = Known {
    id: 11,
    magics: &[],
    is_described: false,
    table: "disk",
    identity: Identity::Device,
    wides: &[],
    longs: &[],
    ints: &[],
};
const NET: Known = Known { id: 12, table: "net", identity: Identity::Interface, ..DISK };
const NET_FAILURES: Known = Known { id: 13, ..NET };
const TCP: Known = Known { id: 21, magics: &[0x8a], table: "tcp", identity: Identity::Host, ..DISK };
const PRESSURE: Known = Known { is_described: true, table: "pressure", ..TCP };

/// Everything we read. The first release of the format that describes itself still used the magics of the
/// one before, for layouts that were already the new ones.
#[rustfmt::skip]
static KNOWN: &[Known] = &[
    Known { magics: &[0x8a], wides: &["sectors_read", "sectors_written"], longs: &["read_ms", "write_ms", "io_ms", "weighted_ms", "ios"], ints: &[MAJOR, MINOR], ..DISK },
    Known { magics: &[0x8b], wides: &["ios"], longs: &["sectors_read", "sectors_written"], ints: DISK_TICKS.split_at(6).0, ..DISK },
    Known { magics: &[0x8b, 0x8c], is_described: true, wides: &["ios"], longs: &["sectors_read", "sectors_written", "sectors_discarded"], ints: DISK_TICKS, ..DISK },

    Known { magics: &[0x8a], longs: TRAFFIC, ..NET },
    Known { magics: &[0x8b], wides: TRAFFIC, ..NET },
    Known { magics: &[0x8c], wides: TRAFFIC, ints: &[UNUSED], ..NET },
    Known { magics: &[0x8c, 0x8d], is_described: true, wides: TRAFFIC, ..NET },

    Known { magics: &[0x8a], longs: FAILURES, ..NET_FAILURES },
    Known { magics: &[0x8b], wides: FAILURES, ..NET_FAILURES },
    Known { magics: &[0x8b, 0x8c], is_described: true, wides: FAILURES, ..NET_FAILURES },

    Known { longs: OPENS_AND_SEGMENTS, ..TCP },
    Known { is_described: true, longs: OPENS_AND_SEGMENTS, ..TCP },
    Known { id: 22, longs: TCP_FAILURES, ..TCP },
    Known { id: 22, is_described: true, longs: TCP_FAILURES, ..TCP },

    // Stall times in microseconds; the averages behind them are the kernel's own.
    Known { id: 40, wides: &["cpu_some_us"], ..PRESSURE },
    Known { id: 41, wides: &["io_some_us", "io_full_us"], ..PRESSURE },
    Known { id: 42, wides: &["memory_some_us", "memory_full_us"], ..PRESSURE },
];

/// One entry of the file's list.
#[derive(Debug)]
pub struct Activity {
    /// What it counts.
    pub id: u32,
    /// How many items a record has, unless it says so itself.
    pub items: u32,
    /// Whether each record says how many items it has.
    pub is_counted: bool,
    /// How many parts an item has.
    pub parts: u32,
    /// Bytes of a part.
    pub size: u32,
    /// How to read it, if it is wanted and known.
    pub plan: Option<Plan>,
}

/// Where in an item the wanted numbers are: worked out once a file.
#[derive(Debug)]
pub struct Plan {
    /// An index into [`TABLES`].
    pub table: usize,
    /// Bytes from one item to the next.
    pub size: usize,
    /// What tells items apart.
    pub key: Key,
    /// The numbers to take.
    pub fields: Vec<Field>,
}

/// Where an item says whose counters it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The host's.
    Host,
    /// Those of the interface named there.
    Interface(usize),
    /// Those of the device with the major and minor number there.
    Device(usize, usize),
}

/// One number to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The table's column that it goes to.
    pub column: usize,
    /// Where it is.
    pub cell: Cell,
}

/// Reads the list of activities.
pub fn list(bytes: &mut Bytes, header: &Header, sink: &mut dyn Sink) -> Result<Vec<Activity>, ReadError> {
    let mut entry = vec![0; header.activity.size];
    let mut activities = Vec::new();
    for _ in 0..header.activities {
        let at = bytes.at();
        bytes.fill(&mut entry, Part::Activities)?;
        activities.push(Entry { header, bytes: &entry, at }.activity(sink)?);
    }
    if !activities.iter().any(|a| a.id == DISK.id) {
        let text = "no disk counters in this file: have sadc record them with -S DISK".to_string();
        sink.note(Note { time: None, text });
    }
    Ok(activities)
}

/// The number of items that a restart tells for an activity; the id is 0 where it tells nothing.
pub fn renewed(header: &Header, entry: &[u8]) -> (u32, u32) {
    let entry = Entry { header, bytes: entry, at: 0 };
    (entry.word(0).unwrap_or(0), entry.word(header.format.words.items).unwrap_or(0))
}

struct Entry<'a> {
    header: &'a Header,
    bytes: &'a [u8],
    at: u64,
}

impl Entry<'_> {
    fn activity(&self, sink: &mut dyn Sink) -> Result<Activity, ReadError> {
        let words = self.header.format.words;
        let id = self.number("an id", 0, 1..=u32::MAX)?;
        let items = self.number("a number of items", words.items, 0..=MOST_ITEMS)?;
        let parts =
            words.parts.map_or(Ok(1), |word| self.number("a number of parts", word, 1..=MOST_PARTS))?;
        let size = self.number("a size", words.size, 1..=MOST_ITEM_BYTES)?;
        self.check_total(items, parts, size)?;
        let is_counted = words.counted.and_then(|word| self.word(word)).is_some_and(|counted| counted != 0);
        let layout = Struct { size: size as usize, groups: self.groups(size)? };
        // Before activities had magics, all were as they are in the first that had.
        let magic = words.magic.map_or(Some(0x8a), |word| self.word(word)).unwrap_or(0);
        let plan = self.plan(id, magic, layout, sink);
        Ok(Activity { id, items, is_counted, parts, size, plan })
    }

    fn word(&self, index: u32) -> Option<u32> {
        let dialect = self.header.dialect;
        dialect.int(self.bytes, self.header.activity.groups.cell(Slot::Int(index), dialect)?.at)
    }

    fn number(&self, what: &str, word: u32, range: std::ops::RangeInclusive<u32>) -> Result<u32, ReadError> {
        let number = self.word(word);
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let cell = self.header.activity.groups.cell(Slot::Int(word), self.header.dialect);
            let expected = match *range.end() {
                u32::MAX => format!("{what} of an activity"),
                most => format!("{what} of an activity from {} to {most}", range.start()),
            };
            let found = number.map_or("no such field".to_string(), |number| number.cast_signed().to_string());
            ReadError::content(Place::Byte(self.at + cell.map_or(0, |cell| cell.at as u64)), expected, found)
        })
    }

    /// Together the items of a record take less than 4 GiB (sysstat's own limit).
    fn check_total(&self, items: u32, parts: u32, size: u32) -> Result<(), ReadError> {
        let total = u64::from(items) * u64::from(parts) * u64::from(size);
        if total <= u64::from(u32::MAX) {
            return Ok(());
        }
        let found = format!("{items} items of {parts} parts of {size} bytes");
        Err(ReadError::content(Place::Byte(self.at), "an activity of less than 4 GiB a record", found))
    }

    /// What an item starts with, as the file says; nothing where it does not say.
    fn groups(&self, size: u32) -> Result<Groups, ReadError> {
        let Some(first) = self.header.format.words.groups else { return Ok(Groups::new(0, 0, 0)) };
        let word = |index| self.word(first + index).unwrap_or(0);
        let groups = Groups::new(word(0), word(1), word(2));
        if groups.end(self.header.dialect) <= size as usize {
            return Ok(groups);
        }
        let Groups { wides, longs, ints } = groups;
        let found = format!("({wides},{longs},{ints}) numbers in {size} bytes");
        Err(ReadError::content(Place::Byte(self.at), "an activity whose numbers fit into its size", found))
    }

    fn plan(&self, id: u32, magic: u32, layout: Struct, sink: &mut dyn Sink) -> Option<Plan> {
        let is_described = self.header.format.describes_itself;
        let mut versions = KNOWN.iter().filter(|known| known.id == id).peekable();
        let is_wanted = versions.peek().is_some();
        let known =
            versions.find(|known| known.is_described == is_described && known.magics.contains(&magic));
        let plan = known.and_then(|known| known.plan(layout, self.header.dialect));
        if plan.is_none() && (is_wanted || id > LAST_ID) {
            let size = layout.size;
            let text =
                format!("activity {id} skipped: version {magic:#x} with {size} bytes an item is not known");
            sink.note(Note { time: None, text });
        }
        plan
    }
}

impl Known {
    /// Where its fields lie in this file, if an item is large enough to hold them.
    fn plan(&self, layout: Struct, dialect: Dialect) -> Option<Plan> {
        let groups = if self.is_described { layout.groups } else { self.groups() };
        let schema = Schema::named(self.table)?;
        let key = self.key(groups, dialect)?;
        let fields: Vec<Field> = self
            .slots()
            .filter_map(|(name, slot)| {
                Some(Field { column: schema.position(name)?, cell: groups.cell(slot, dialect)? })
            })
            .collect();
        let name_bytes = if self.identity == Identity::Interface { INTERFACE_BYTES } else { 0 };
        let fits = groups.end(dialect).saturating_add(name_bytes) <= layout.size;
        let table = TABLES.iter().position(|&table| table == self.table)?;
        (fits && !fields.is_empty()).then_some(Plan { table, size: layout.size, key, fields })
    }

    fn groups(&self) -> Groups {
        Groups::new(self.wides.len() as u32, self.longs.len() as u32, self.ints.len() as u32)
    }

    fn slots(&self) -> impl Iterator<Item = (&'static str, Slot)> {
        let wides = (0..).zip(self.wides).map(|(i, &name)| (name, Slot::Wide(i)));
        let longs = (0..).zip(self.longs).map(|(i, &name)| (name, Slot::Long(i)));
        let ints = (0..).zip(self.ints).map(|(i, &name)| (name, Slot::Int(i)));
        wides.chain(longs).chain(ints)
    }

    fn key(&self, groups: Groups, dialect: Dialect) -> Option<Key> {
        let at = |wanted| {
            let (_, slot) = self.slots().find(|&(name, _)| name == wanted)?;
            Some(groups.cell(slot, dialect)?.at)
        };
        match self.identity {
            Identity::Host => Some(Key::Host),
            Identity::Interface => Some(Key::Interface(groups.end(dialect))),
            Identity::Device => Some(Key::Device(at(MAJOR)?, at(MINOR)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_field_has_its_column() {
        for known in KNOWN {
            let schema = Schema::named(known.table).unwrap();
            let fields = known.slots().filter(|(name, _)| ![MAJOR, MINOR, UNUSED].contains(name));
            for (name, _) in fields {
                assert!(schema.position(name).is_some(), "activity {}: no column {name}", known.id);
            }
            assert!(TABLES.contains(&known.table));
        }
    }
}
