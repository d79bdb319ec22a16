//! The known activities, and the position of their counters.

use laggard_core::model::schema::Schema;

use super::format::Struct;
use super::header::Header;
use super::layout::{Cell, Dialect, Groups, Slot};

/// The tables that an sa file can fill.
pub(super) static TABLES: [&str; 4] = ["disk", "net", "tcp", "pressure"];

/// The activity of CPUs: a restart states their number.
pub(super) const CPU_ID: u32 = 1;
pub(super) const DISK_ID: u32 = 11;

/// The last id in sysstat 12.8. Most ids have no columns here.
const LAST_ID: u32 = 43;

/// The key that identifies the items of an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    /// A single item, the host.
    Host,
    /// A name of 16 bytes after the numbers.
    Interface,
    /// The fields [`MAJOR`] and [`MINOR`].
    Device,
}

const INTERFACE_BYTES: usize = 16;
const MAJOR: &str = "major";
const MINOR: &str = "minor";
/// A field without a column.
const UNUSED: &str = "";

/// One version of an activity: the table columns of its counters, group by group.
struct KnownActivity {
    id: u32,
    magics: &'static [u32],
    /// For the self-describing format: a group in the file may have fewer or more fields than listed.
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

const DISK: KnownActivity = KnownActivity {
    id: DISK_ID,
    magics: &[],
    is_described: false,
    table: "disk",
    identity: Identity::Device,
    wides: &[],
    longs: &[],
    ints: &[],
};
const NET: KnownActivity = KnownActivity { id: 12, table: "net", identity: Identity::Interface, ..DISK };
const NET_FAILURES: KnownActivity = KnownActivity { id: 13, ..NET };
const TCP: KnownActivity =
    KnownActivity { id: 21, magics: &[0x8a], table: "tcp", identity: Identity::Host, ..DISK };
const PRESSURE: KnownActivity = KnownActivity { is_described: true, table: "pressure", ..TCP };

/// All known layouts. The first release of the self-describing format still used the magic numbers of the previous one,
/// for the new layouts.
#[rustfmt::skip]
static KNOWN: &[KnownActivity] = &[
    KnownActivity { magics: &[0x8a], wides: &["sectors_read", "sectors_written"], longs: &["read_ms", "write_ms", "io_ms", "weighted_ms", "ios"], ints: &[MAJOR, MINOR], ..DISK },
    KnownActivity { magics: &[0x8b], wides: &["ios"], longs: &["sectors_read", "sectors_written"], ints: DISK_TICKS.split_at(6).0, ..DISK },
    KnownActivity { magics: &[0x8b, 0x8c], is_described: true, wides: &["ios"], longs: &["sectors_read", "sectors_written", "sectors_discarded"], ints: DISK_TICKS, ..DISK },

    KnownActivity { magics: &[0x8a], longs: TRAFFIC, ..NET },
    KnownActivity { magics: &[0x8b], wides: TRAFFIC, ..NET },
    KnownActivity { magics: &[0x8c], wides: TRAFFIC, ints: &[UNUSED], ..NET },
    KnownActivity { magics: &[0x8c, 0x8d], is_described: true, wides: TRAFFIC, ..NET },

    KnownActivity { magics: &[0x8a], longs: FAILURES, ..NET_FAILURES },
    KnownActivity { magics: &[0x8b], wides: FAILURES, ..NET_FAILURES },
    KnownActivity { magics: &[0x8b, 0x8c], is_described: true, wides: FAILURES, ..NET_FAILURES },

    KnownActivity { longs: OPENS_AND_SEGMENTS, ..TCP },
    KnownActivity { is_described: true, longs: OPENS_AND_SEGMENTS, ..TCP },
    KnownActivity { id: 22, longs: TCP_FAILURES, ..TCP },
    KnownActivity { id: 22, is_described: true, longs: TCP_FAILURES, ..TCP },

    // Stall times in microseconds; the averages after them are the kernel's own.
    KnownActivity { id: 40, wides: &["cpu_some_us"], ..PRESSURE },
    KnownActivity { id: 41, wides: &["io_some_us", "io_full_us"], ..PRESSURE },
    KnownActivity { id: 42, wides: &["memory_some_us", "memory_full_us"], ..PRESSURE },
];

/// The positions of the needed numbers in an item: computed once per file.
#[derive(Debug)]
pub(super) struct Plan {
    /// An index into [`TABLES`].
    pub table: usize,
    /// Bytes per item.
    pub size: usize,
    pub key: Key,
    pub fields: Vec<Field>,
}

/// The position of an item's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Host,
    Interface(usize),
    Device(usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// The column of the table.
    pub column: usize,
    pub cell: Cell,
}

/// The result of looking up an activity.
#[derive(Debug)]
pub(super) enum ActivityKind {
    Plan(Plan),
    /// Needed, or from a later sysstat, but in an unknown form.
    UnknownVersion,
    /// Not needed.
    Unwanted,
}

pub(super) fn plan(id: u32, magic: u32, layout: Struct, header: &Header) -> ActivityKind {
    let is_described = header.format.describes_itself;
    let mut versions = KNOWN.iter().filter(|known| known.id == id).peekable();
    let is_unwanted = versions.peek().is_none() && id <= LAST_ID;
    let known = versions.find(|known| known.is_described == is_described && known.magics.contains(&magic));
    match known.and_then(|known| known.plan(layout, header.dialect)) {
        Some(plan) => ActivityKind::Plan(plan),
        None if is_unwanted => ActivityKind::Unwanted,
        None => ActivityKind::UnknownVersion,
    }
}

impl KnownActivity {
    /// None if an item is too small for its fields.
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
