//! The layout of structs.
//!
//! All structs of sysstat, in all versions, have the same order: 64-bit words, then the writer's longs, then 32-bit
//! words, then bytes. A long takes eight bytes, of which a 32-bit writer uses the first four. Up to 11.6 a 64-bit word
//! takes sixteen bytes, since then eight. So the offset of a field follows from its group, its index in the group, and
//! the sizes of the groups before it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub big_endian: bool,
    /// True if the writer's long has 32 bits.
    pub short_longs: bool,
    /// Bytes per 64-bit word.
    pub wide_room: usize,
}

/// The number of fields of each size at the start of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    /// 64-bit words.
    pub wides: u32,
    /// The writer's longs.
    pub longs: u32,
    /// 32-bit words.
    pub ints: u32,
}

/// The n-th field of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Wide(u32),
    Long(u32),
    Int(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// The offset in the struct.
    pub at: usize,
    /// Eight bytes instead of four.
    pub is_wide: bool,
}

const LONG_ROOM: usize = 8;
const INT_ROOM: usize = 4;

impl Groups {
    pub(super) const fn new(wides: u32, longs: u32, ints: u32) -> Self {
        Groups { wides, longs, ints }
    }

    /// The offset after the last group: the minimum size of the struct.
    pub(super) fn end(self, dialect: Dialect) -> usize {
        self.ints_at(dialect).saturating_add((self.ints as usize).saturating_mul(INT_ROOM))
    }

    /// None if the struct does not have the field.
    pub(super) fn cell(self, slot: Slot, dialect: Dialect) -> Option<Cell> {
        let long_is_wide = !dialect.short_longs;
        let (index, count, start, room, is_wide) = match slot {
            Slot::Wide(index) => (index, self.wides, 0, dialect.wide_room, true),
            Slot::Long(index) => (index, self.longs, self.longs_at(dialect), LONG_ROOM, long_is_wide),
            Slot::Int(index) => (index, self.ints, self.ints_at(dialect), INT_ROOM, false),
        };
        (index < count).then(|| Cell { at: start + index as usize * room, is_wide })
    }

    fn longs_at(self, dialect: Dialect) -> usize {
        (self.wides as usize).saturating_mul(dialect.wide_room)
    }

    fn ints_at(self, dialect: Dialect) -> usize {
        self.longs_at(dialect).saturating_add((self.longs as usize).saturating_mul(LONG_ROOM))
    }
}

impl Dialect {
    pub(super) fn int(self, bytes: &[u8], at: usize) -> Option<u32> {
        let word = *bytes.get(at..)?.first_chunk()?;
        Some(if self.big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) })
    }

    pub(super) fn wide(self, bytes: &[u8], at: usize) -> Option<u64> {
        let word = *bytes.get(at..)?.first_chunk()?;
        Some(if self.big_endian { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) })
    }

    pub(super) fn number(self, bytes: &[u8], cell: Cell) -> Option<u64> {
        if cell.is_wide { self.wide(bytes, cell.at) } else { self.int(bytes, cell.at).map(u64::from) }
    }
}

/// A C string up to its NUL or the end, with unprintable characters made visible.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    String::from_utf8_lossy(&bytes[..end]).chars().map(printable).collect()
}
