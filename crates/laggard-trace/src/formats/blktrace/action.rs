//! The step of a record, by number and by letter.

use crate::tracepoints::BlockStep;

/// From the lower half of a binary record's action.
pub(super) fn numbered(action: u16) -> Option<BlockStep> {
    Some(match action {
        1 => BlockStep::Queue,
        2 => BlockStep::BackMerge,
        3 => BlockStep::FrontMerge,
        4 => BlockStep::Get,
        6 => BlockStep::Requeue,
        7 => BlockStep::Issue,
        8 => BlockStep::Complete,
        12 => BlockStep::Insert,
        13 => BlockStep::Split,
        15 => BlockStep::Remap,
        _ => return None,
    })
}

/// From blkparse's letter.
pub(super) fn lettered(letter: &[u8]) -> Option<BlockStep> {
    Some(match letter {
        b"Q" => BlockStep::Queue,
        b"M" => BlockStep::BackMerge,
        b"F" => BlockStep::FrontMerge,
        b"G" => BlockStep::Get,
        b"R" => BlockStep::Requeue,
        b"D" => BlockStep::Issue,
        b"C" => BlockStep::Complete,
        b"I" => BlockStep::Insert,
        b"X" => BlockStep::Split,
        b"A" => BlockStep::Remap,
        _ => return None,
    })
}
