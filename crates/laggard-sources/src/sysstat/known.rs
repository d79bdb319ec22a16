//! The activities we know how to read: where the counters are that we have columns for.

use laggard_core::model::schema::Schema;

use super::format::Struct;
use super::header::Header;
use super::layout::{Cell, Dialect, Groups, Slot};

/// The tables that an sa file can fill.
pub static TABLES: [&str; 4] = ["disk", "net", "tcp", "pressure"];

/// The activity that counts CPUs: how many there are is told at a restart.
pub const CPU_ID: u32 = 1;
/// The activity of block devices.
pub const DISK_ID: u32 = 11;

/// Ids up to this one exist in sysstat 12.8. We have no columns for most of them.
const LAST_ID: u32 = 43;

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
    id: DISK_ID,
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

/// What there is to say about an activity of a file.
#[derive(Debug)]
pub enum Found {
    /// Where its counters are.
    Plan(Plan),
    /// It is wanted, or of a later sysstat, but not known in this form.
    Strange,
    /// We have no columns for it.
    Unwanted,
}

/// Looks an activity up.
pub fn plan(id: u32, magic: u32, layout: Struct, header: &Header) -> Found {
    let is_described = header.format.describes_itself;
    let mut versions = KNOWN.iter().filter(|known| known.id == id).peekable();
    let is_unwanted = versions.peek().is_none() && id <= LAST_ID;
    let known = versions.find(|known| known.is_described == is_described && known.magics.contains(&magic));
    match known.and_then(|known| known.plan(layout, header.dialect)) {
        Some(plan) => Found::Plan(plan),
        None if is_unwanted => Found::Unwanted,
        None => Found::Strange,
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
