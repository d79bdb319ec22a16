//! Fields of block events.

use crate::formats::number::{decimal, number};
use crate::tracepoints::{BlockFields, BlockStep, Device, Rwbs};

/// The station that an event is, by its name.
pub(super) fn step(name: &[u8]) -> Option<BlockStep> {
    let name = name.strip_prefix(b"block_")?;
    Some(match name {
        b"bio_queue" => BlockStep::Queue,
        b"getrq" => BlockStep::Get,
        b"rq_insert" => BlockStep::Insert,
        b"rq_issue" => BlockStep::Issue,
        b"rq_complete" => BlockStep::Complete,
        b"bio_complete" => BlockStep::BioComplete,
        b"rq_requeue" => BlockStep::Requeue,
        b"bio_backmerge" => BlockStep::BackMerge,
        b"bio_frontmerge" => BlockStep::FrontMerge,
        b"rq_merge" => BlockStep::RequestMerge,
        b"split" => BlockStep::Split,
        b"bio_remap" | b"rq_remap" => BlockStep::Remap,
        b"rq_error" => BlockStep::Error,
        _ => return None,
    })
}

/// `254,0 RA 16384 () 20694936 + 32 be,0,4 [fio]`; not all events have all of it.
pub(super) fn fields(step: BlockStep, text: &[u8]) -> Option<BlockFields> {
    let (device, rest) = device(text)?;
    let rest = rest.trim_ascii_start();
    let letters = memchr::memchr(b' ', rest)?;
    let rwbs = Rwbs::new(&rest[..letters]);
    let rest = &rest[letters..];
    let mut fields = BlockFields { device, rwbs, ..BlockFields::default() };
    // The command of a request in brackets may be anything.
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
        // A split tells where, not how much: what is before the cut.
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

/// `[0]`, `[-5]` at the end.
fn error(tail: &[u8]) -> i32 {
    let at = memchr::memrchr(b'[', tail);
    at.and_then(|at| number(&tail[at + 1..])).and_then(|(error, _)| i32::try_from(error).ok()).unwrap_or(0)
}
