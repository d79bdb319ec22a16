//! `io_submit` and `io_getevents`: one call for several requests.

use std::collections::VecDeque;

use super::call::annotation;
use crate::formats::number::{after, number};
use crate::model::{Event, Op};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ControlBlock {
    pub op: Op,
    pub fd: i32,
    pub target: Option<Box<str>>,
    pub bytes: u64,
    pub offset: i64,
}

/// The control blocks of an `io_submit`, at most as many as the kernel accepted.
pub(super) fn control_blocks(args: &[u8], taken: usize) -> Vec<ControlBlock> {
    blocks(args).filter_map(one).take(taken).collect()
}

/// The text between braces.
fn blocks(args: &[u8]) -> impl Iterator<Item = &[u8]> {
    args.split(|&byte| byte == b'{')
        .skip(1)
        .map(|part| &part[..memchr::memchr(b'}', part).unwrap_or(part.len())])
}

fn one(block: &[u8]) -> Option<ControlBlock> {
    let field = |name: &[u8]| {
        let text = after(block, name)?;
        Some(&text[..memchr::memmem::find(text, b", ").unwrap_or(text.len())])
    };
    let op = match field(b"aio_lio_opcode=")? {
        b"IOCB_CMD_PREAD" | b"IOCB_CMD_PREADV" => Op::Read,
        b"IOCB_CMD_PWRITE" | b"IOCB_CMD_PWRITEV" => Op::Write,
        b"IOCB_CMD_FSYNC" | b"IOCB_CMD_FDSYNC" => Op::Sync,
        _ => return None,
    };
    let descriptor = field(b"aio_fildes=")?;
    let whole = |name: &[u8]| number(field(name)?).map(|(value, _)| value);
    Some(ControlBlock {
        op,
        fd: i32::try_from(number(descriptor)?.0).ok()?,
        target: annotation(descriptor),
        bytes: whole(b"aio_nbytes=").and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0),
        offset: whole(b"aio_offset=").unwrap_or(-1),
    })
}

pub(super) fn results(args: &[u8], count: usize) -> Vec<i64> {
    let result = |block: &[u8]| Some(number(after(block, b" res=")?)?.0);
    blocks(args).filter_map(result).take(count).collect()
}

/// The oldest open request with this size, else the oldest.
pub(super) fn ended(open: &mut VecDeque<Event>, result: i64) -> Option<Event> {
    let at = open.iter().position(|admit| i64::try_from(admit.nbytes) == Ok(result)).unwrap_or(0);
    open.remove(at)
}
