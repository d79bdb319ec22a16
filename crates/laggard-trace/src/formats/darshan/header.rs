//! The header: the position of each region of the file.

use super::bytes::Order;
use laggard_input::{Place, ReadError};

const MAGIC: u64 = 6_567_223;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Region {
    pub offset: u64,
    pub length: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    Zlib,
    Bzip2,
    None,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub order: Order,
    /// `3.21` is 321.
    pub version: u32,
    pub compression: Compression,
    pub job: Region,
    pub names: Region,
    pub dxt_posix: Region,
    pub dxt_mpiio: Region,
    /// True if a module ran out of memory while tracing.
    pub is_partial: bool,
}

/// None if the file is not a Darshan log.
pub(super) fn order(start: &[u8]) -> Option<Order> {
    [Order::Little, Order::Big].into_iter().find(|order| order.long(start, 8) == Some(MAGIC))
}

/// Logs since version 3.41 have 64 modules, earlier ones 16.
fn modules(version: u32) -> usize {
    if version >= 341 { 64 } else { 16 }
}

/// Later versions have more modules before the two of DXT: HDF5 datasets since 3.20, PnetCDF variables since 3.41.
fn dxt_posix(version: u32) -> usize {
    match version {
        ..320 => 8,
        320..341 => 9,
        341.. => 10,
    }
}

impl Header {
    pub(super) fn read(file: &[u8]) -> Result<Header, ReadError> {
        let Some(order) = order(file) else {
            let found: String = file.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            return Err(ReadError::quoting(Place::Byte(8), "the magic number of a Darshan log", found));
        };
        let version = version(file)?;
        Header::at(file, order, version).ok_or_else(|| ReadError::Truncated {
            place: Place::Byte(file.len() as u64),
            within: "the header of a Darshan log".into(),
        })
    }

    fn at(file: &[u8], order: Order, version: u32) -> Option<Header> {
        let count = modules(version);
        // The flag for partial modules has 32 bits in the older header and 64 in the newer one.
        let (partial, names_at) =
            if count == 64 { (order.long(file, 24)?, 32) } else { (u64::from(order.word(file, 20)?), 24) };
        let region =
            |at: usize| Some(Region { offset: order.long(file, at)?, length: order.long(file, at + 8)? });
        let module = |nth: usize| region(names_at + 16 + nth * 16);
        let size = names_at + 16 + count * 16 + count * 4;
        let names = region(names_at)?;
        let first = dxt_posix(version);
        Some(Header {
            order,
            version,
            compression: match file.get(16)? {
                0 => Compression::Zlib,
                1 => Compression::Bzip2,
                _ => Compression::None,
            },
            job: Region {
                offset: size as u64,
                length: job_end(names, file.len()).saturating_sub(size as u64),
            },
            names,
            dxt_posix: module(first)?,
            dxt_mpiio: module(first + 1)?,
            is_partial: partial >> first & 3 != 0,
        })
    }
}

/// The job's description lies between the header and the names. In a log without names it extends to the end.
fn job_end(names: Region, file: usize) -> u64 {
    if names.offset == 0 { file as u64 } else { names.offset }
}

fn version(file: &[u8]) -> Result<u32, ReadError> {
    let text = file.get(..8).unwrap_or_default();
    let text = &text[..text.iter().position(|&byte| byte == 0).unwrap_or(text.len())];
    let parsed = std::str::from_utf8(text).ok().and_then(|text| {
        let (major, minor) = text.split_once('.')?;
        let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        if minor < 100 { major.checked_mul(100)?.checked_add(minor) } else { None }
    });
    match parsed {
        Some(version) if version >= 310 => Ok(version),
        _ => Err(ReadError::quoting(Place::Byte(0), "version 3.10 of the log or a later one", text)),
    }
}
