//! Fields of block events.

use crate::formats::number::{decimal, number};
use crate::tracepoints::{BlockFields, BlockStep, Device, Rwbs};

/// `254,0 RA 16384 () 20694936 + 32 be,0,4 [fio]`. Not every event has all fields.
pub(super) fn fields(step: BlockStep, text: &[u8]) -> Option<BlockFields> {
    let (device, rest) = device(text)?;
    let rest = rest.trim_ascii_start();
    let letters = memchr::memchr(b' ', rest)?;
    let rwbs = Rwbs::new(&rest[..letters]);
    let rest = &rest[letters..];
    let mut fields = BlockFields { device, rwbs, ..BlockFields::default() };
    // The command in parentheses may contain anything.
    let after_command = memchr::memchr(b'(', rest)
        .filter(|_| step != BlockStep::Remap)
        .and_then(|at| memchr::memrchr(b')', rest).filter(|end| *end > at))
        .map_or(rest, |end| &rest[end + 1..]);
    if let Some((bytes, _)) = decimal(rest.trim_ascii_start()).filter(|_| after_command.len() != rest.len()) {
        fields.bytes = u32::try_from(bytes).ok()?;
    }
    let (sector, tail) = decimal(after_command.trim_ascii_start())?;
    fields.sector = sector;
    if step == BlockStep::Split {
        fields.other_sector = decimal(tail.strip_prefix(b" / ")?)?.0;
        // A split reports the position, not the size: the size is that of the part before it.
        fields.sectors = u32::try_from(fields.other_sector.saturating_sub(sector)).ok()?;
        return Some(fields);
    }
    let (sectors, tail) = decimal(tail.strip_prefix(b" + ")?)?;
    fields.sectors = u32::try_from(sectors).ok()?;
    if step == BlockStep::Remap {
        let from = tail.strip_prefix(b" <- (")?;
        let (other, rest) = self::device(from)?;
        fields.other_device = other;
        fields.other_sector = decimal(rest.strip_prefix(b") ")?)?.0;
    }
    if matches!(step, BlockStep::Complete | BlockStep::BioComplete | BlockStep::Requeue | BlockStep::Error) {
        fields.error = error(tail);
    }
    Some(fields)
}

fn device(text: &[u8]) -> Option<(Device, &[u8])> {
    let (major, rest) = decimal(text)?;
    let (minor, rest) = decimal(rest.strip_prefix(b",")?)?;
    Some((Device { major: u32::try_from(major).ok()?, minor: u32::try_from(minor).ok()? }, rest))
}

/// `[0]` or `[-5]` at the end.
fn error(tail: &[u8]) -> i32 {
    let at = memchr::memrchr(b'[', tail);
    at.and_then(|at| number(&tail[at + 1..])).and_then(|(error, _)| i32::try_from(error).ok()).unwrap_or(0)
}
