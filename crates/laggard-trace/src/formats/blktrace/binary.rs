//! Binary records as the kernel passes them to blktrace, in either byte order.

use std::collections::HashMap;
use std::io::{self, Read};

use super::action;
use crate::formats::ReadCounts;
use crate::tracepoints::{BlockFields, BlockStep, Comm, Device, Payload, Rwbs, Tracepoint};
use laggard_input::{Place, ReadError};

/// The upper three bytes of the first word; the lowest is the version.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
/// Bytes of a record before its payload.
const HEAD: usize = 48;

/// Categories in the upper half of the action.
mod category {
    pub(super) const READ: u32 = 1;
    pub(super) const WRITE: u32 = 1 << 1;
    pub(super) const FLUSH: u32 = 1 << 2;
    pub(super) const SYNC: u32 = 1 << 3;
    pub(super) const NOTIFY: u32 = 1 << 10;
    pub(super) const AHEAD: u32 = 1 << 11;
    pub(super) const META: u32 = 1 << 12;
    pub(super) const DISCARD: u32 = 1 << 13;
    pub(super) const FUA: u32 = 1 << 15;
}

pub(crate) fn recognises(start: &[u8]) -> bool {
    start.first_chunk().is_some_and(|word| Order::of(*word).is_some()) && start.len() >= HEAD
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn of(word: [u8; 4]) -> Option<Order> {
        let is_magic = |word: u32| word & !0xff == MAGIC && word & 0xff == VERSION;
        match (is_magic(u32::from_le_bytes(word)), is_magic(u32::from_be_bytes(word))) {
            (true, _) => Some(Order::Little),
            (_, true) => Some(Order::Big),
            _ => None,
        }
    }

    fn word(self, head: &[u8; HEAD], at: usize) -> u32 {
        let bytes = [head[at], head[at + 1], head[at + 2], head[at + 3]];
        if self == Order::Little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    }

    fn long(self, head: &[u8; HEAD], at: usize) -> u64 {
        let (first, second) = (u64::from(self.word(head, at)), u64::from(self.word(head, at + 4)));
        if self == Order::Little { second << 32 | first } else { first << 32 | second }
    }
}

/// Reads until the end or until `sink` returns an error. After a damaged record it continues at the next magic word.
pub(crate) fn read(
    mut bytes: impl Read,
    counts: &mut ReadCounts,
    sink: &mut dyn FnMut(Tracepoint) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut names = HashMap::new();
    let mut at = 0;
    loop {
        let failed = |error| broken(Place::Byte(at), error);
        let Some(head) = filled(&mut bytes).map_err(failed)? else { return Ok(()) };
        let Some((head, skipped)) = aligned(head, &mut bytes, counts, at).map_err(failed)? else {
            return Ok(());
        };
        at += skipped;
        let record = Record::of(&head);
        let mut carried = vec![0; usize::from(record.carried)];
        bytes.read_exact(&mut carried).map_err(|error| broken(Place::Byte(at), error))?;
        at += (HEAD + carried.len()) as u64;
        if let Some(point) = record.point(&carried, &mut names, counts) {
            sink(point)?;
        }
    }
}

fn broken(place: Place, error: io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ReadError::Truncated { place, within: "a blktrace record".into() },
        _ => ReadError::Io { place, error },
    }
}

/// None at the end of the file.
fn filled(bytes: &mut impl Read) -> io::Result<Option<[u8; HEAD]>> {
    let mut head = [0; HEAD];
    let mut length = 0;
    while length < HEAD {
        match bytes.read(&mut head[length..]) {
            Ok(0) if length == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(head))
}

/// A record head that begins with the magic word, and the number of bytes skipped to find it.
fn aligned(
    mut head: [u8; HEAD],
    bytes: &mut impl Read,
    counts: &mut ReadCounts,
    at: u64,
) -> io::Result<Option<([u8; HEAD], u64)>> {
    let mut skipped = 0;
    while head.first_chunk().is_none_or(|word| Order::of(*word).is_none()) {
        if skipped == 0 {
            let found: String = head[..4].iter().map(|byte| format!("{byte:02x}")).collect();
            counts.drop_one(Place::Byte(at), "the magic word of a blktrace record", found.as_bytes());
        }
        head.rotate_left(1);
        if bytes.read(&mut head[HEAD - 1..])? == 0 {
            return Ok(None);
        }
        skipped += 1;
    }
    Ok(Some((head, skipped)))
}

struct Record {
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    device: u32,
    cpu: u32,
    error: u16,
    carried: u16,
}

impl Record {
    fn of(head: &[u8; HEAD]) -> Record {
        let order = head.first_chunk().and_then(|word| Order::of(*word)).unwrap_or(Order::Little);
        let last = order.word(head, 44);
        // Two halves of a word.
        let (error, carried) = match order {
            Order::Little => (last as u16, (last >> 16) as u16),
            Order::Big => ((last >> 16) as u16, last as u16),
        };
        Record {
            time: order.long(head, 8),
            sector: order.long(head, 16),
            bytes: order.word(head, 24),
            action: order.word(head, 28),
            pid: order.word(head, 32),
            device: order.word(head, 36),
            cpu: order.word(head, 40),
            error,
            carried,
        }
    }

    fn point(
        &self,
        carried: &[u8],
        names: &mut HashMap<u32, Comm>,
        counts: &mut ReadCounts,
    ) -> Option<Tracepoint> {
        counts.read += 1;
        let category = self.action >> 16;
        if category & category::NOTIFY != 0 {
            // Process names come in separate records.
            if self.action & 0xffff == 0 {
                names.insert(self.pid, Comm::new(carried));
            }
            return None;
        }
        let step = action::numbered(self.action as u16)?;
        let fields = BlockFields {
            device: Device::from_kernel(self.device),
            sector: self.sector,
            sectors: self.bytes / 512,
            bytes: self.bytes,
            rwbs: letters(category),
            error: -i32::from((self.error as i16).unsigned_abs()),
            ..BlockFields::default()
        };
        let fields = with_carried(step, fields, carried);
        let comm = names.get(&self.pid).copied().unwrap_or_default();
        let payload = Payload::Block(step, fields);
        Some(Tracepoint { ts_ns: self.time, cpu: self.cpu as u16, tid: self.pid, tgid: None, comm, payload })
    }
}

/// Splits and remaps carry the other position, always in big-endian order.
fn with_carried(step: BlockStep, fields: BlockFields, carried: &[u8]) -> BlockFields {
    let long = |at: usize| carried.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_be_bytes);
    let word = |at: usize| carried.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes);
    match step {
        BlockStep::Split => BlockFields { other_sector: long(0).unwrap_or(0), ..fields },
        BlockStep::Remap => BlockFields {
            other_device: Device::from_kernel(word(0).unwrap_or(0)),
            other_sector: long(8).unwrap_or(0),
            ..fields
        },
        _ => fields,
    }
}

/// The letters that blkparse would print.
fn letters(category: u32) -> Rwbs {
    let mut letters = Vec::with_capacity(8);
    let mut put = |bit: u32, letter: u8| {
        if category & bit != 0 {
            letters.push(letter);
        }
    };
    put(category::FLUSH, b'F');
    put(category::DISCARD, b'D');
    if category & category::DISCARD == 0 {
        put(category::WRITE, b'W');
    }
    put(category::READ, b'R');
    put(category::FUA, b'F');
    put(category::AHEAD, b'A');
    put(category::SYNC, b'S');
    put(category::META, b'M');
    Rwbs::new(&letters)
}
