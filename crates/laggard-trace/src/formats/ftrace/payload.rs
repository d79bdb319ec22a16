//! The part of a line that describes the event.

use super::block;
use crate::formats::number::{after, decimal, hexadecimal, number};
use crate::model::Op;
use crate::tracepoints::{BlockStep, Payload, Syscall};

const CLONE_THREAD: u64 = 0x1_0000;

/// None for unknown events.
pub(super) fn of(event: &[u8]) -> Option<Payload> {
    if let Some(call) = event.strip_prefix(b"sys_") {
        return syscall(call);
    }
    let colon = memchr::memchr(b':', event)?;
    let (mut name, mut fields) = (&event[..colon], &event[colon + 1..]);
    // perf prints the group first: `block:block_rq_issue: ...`.
    if let Some(colon) = memchr::memchr(b':', fields)
        && fields[..colon].iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && colon > 0
    {
        (name, fields) = (&fields[..colon], &fields[colon + 1..]);
    }
    if let Some(call) = name.strip_prefix(b"sys_enter_") {
        return entered(Syscall::from_name(call)?, fields.trim_ascii());
    }
    if let Some(call) = name.strip_prefix(b"sys_exit_") {
        let call = Syscall::from_name(call)?;
        let result = fields.trim_ascii();
        let result = result.strip_prefix(b"ret=").unwrap_or(result);
        return Some(Payload::Exit { call, result: number(result)?.0 });
    }
    named(name, fields.trim_ascii())
}

/// `pread64(fd: 3, buf: 0x7f, count: 0x310, pos: 0x40)` or `pread64 -> 0x310`; from trace-cmd, `enter_pread64: fd:
/// 0x3, ...`.
fn syscall(text: &[u8]) -> Option<Payload> {
    if let Some(text) = text.strip_prefix(b"enter_") {
        let colon = memchr::memchr(b':', text)?;
        return entered(Syscall::from_name(&text[..colon])?, text[colon + 1..].trim_ascii());
    }
    if let Some(text) = text.strip_prefix(b"exit_") {
        let colon = memchr::memchr(b':', text)?;
        return Some(Payload::Exit {
            call: Syscall::from_name(&text[..colon])?,
            result: number(text[colon + 1..].trim_ascii())?.0,
        });
    }
    let length = text.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
    let (name, rest) = text.split_at(length);
    let call = Syscall::from_name(name)?;
    match rest.strip_prefix(b"(") {
        Some(args) => entered(call, args.strip_suffix(b")").unwrap_or(args)),
        None => Some(Payload::Exit { call, result: number(rest.strip_prefix(b" -> ")?)?.0 }),
    }
}

/// Arguments are in the order of the call, each with its name.
fn entered(call: Syscall, text: &[u8]) -> Option<Payload> {
    let mut args = [0; 6];
    let mut path = None;
    let mut rest = text;
    for arg in &mut args {
        let Some(value) = after(rest, b": ") else { break };
        let (found, tail) = number(value).unwrap_or((0, value));
        *arg = found as u64;
        rest = tail;
        // Kernels since 6.18 print the path that a pointer refers to.
        if let Some(quoted) = rest.strip_prefix(b" \"")
            && let Some(end) = memchr::memchr(b'"', quoted)
        {
            path.get_or_insert_with(|| String::from_utf8_lossy(&quoted[..end]).into_owned().into_boxed_str());
            rest = &quoted[end + 1..];
        }
    }
    Some(Payload::Enter { call, args, path })
}

fn named(name: &[u8], fields: &[u8]) -> Option<Payload> {
    if let Some(step) = BlockStep::from_tracepoint(name) {
        return Some(Payload::Block(step, block::fields(step, fields)?));
    }
    let value = |word: &[u8]| Some(number(after(fields, word)?)?.0);
    let pointer = |word: &[u8]| Some(hexadecimal(after(fields, word)?)?.0);
    Some(match name {
        b"fuse_request_send" => Payload::FuseSend {
            connection: u32::try_from(value(b"connection ")?).ok()?,
            unique: value(b"req ")? as u64,
            opcode: u32::try_from(value(b"opcode ")?).ok()?,
            bytes: u32::try_from(value(b"len ")?).ok()?,
        },
        b"fuse_request_end" => Payload::FuseEnd {
            connection: u32::try_from(value(b"connection ")?).ok()?,
            unique: value(b"req ")? as u64,
            bytes: u32::try_from(value(b"len ")?).ok()?,
            error: i32::try_from(value(b"error ")?).ok()?,
        },
        b"aio_read" | b"aio_read64" => aio(Op::Read, fields)?,
        b"aio_write" | b"aio_write64" => aio(Op::Write, fields)?,
        b"aio_return" | b"aio_return64" => {
            Payload::AioReturn { control: value(b"cb=")? as u64, result: value(b"ret=")? }
        }
        b"io_uring_submit_req" | b"io_uring_submit_sqe" => Payload::UringSubmit {
            ring: pointer(b"ring ")?,
            request: pointer(b"req ")?,
            user_data: pointer(b"user_data ")?,
            opcode: opcode(after(fields, b"opcode ")?),
        },
        b"io_uring_file_get" => Payload::UringFile {
            ring: pointer(b"ring ")?,
            request: pointer(b"req ")?,
            fd: i32::try_from(value(b"fd ")?).ok()?,
        },
        b"io_uring_queue_async_work" => Payload::UringAsync {
            ring: pointer(b"ring ")?,
            request: pointer(b"request ").or_else(|| pointer(b"req "))?,
        },
        b"io_uring_complete" => Payload::UringComplete {
            ring: pointer(b"ring ")?,
            request: pointer(b"req ")?,
            user_data: pointer(b"user_data ")?,
            result: value(b"result ")?,
        },
        b"task_newtask" => Payload::NewTask {
            tid: u32::try_from(value(b"pid=")?).ok()?,
            is_thread: pointer(b"clone_flags=")? & CLONE_THREAD != 0,
        },
        b"sched_process_exit" => Payload::TaskExit,
        // In milliseconds.
        b"balance_dirty_pages" => Payload::Throttled {
            pause_ns: u64::try_from(value(b" pause=")?).unwrap_or(0).saturating_mul(1_000_000),
        },
        _ => return None,
    })
}

fn aio(op: Op, fields: &[u8]) -> Option<Payload> {
    let value = |word: &[u8]| Some(number(after(fields, word)?)?.0);
    Some(Payload::AioSubmit {
        op,
        control: value(b"cb=")? as u64,
        fd: i32::try_from(value(b"fd=")?).ok()?,
        bytes: value(b"nbytes=")? as u64,
        offset: value(b"off=")?,
    })
}

/// Newer kernels print the name, older ones the number.
fn opcode(text: &[u8]) -> u8 {
    const NAMES: [(&[u8], u8); 16] = [
        (b"READV", 1),
        (b"WRITEV", 2),
        (b"FSYNC", 3),
        (b"READ_FIXED", 4),
        (b"WRITE_FIXED", 5),
        (b"SYNC_FILE_RANGE", 8),
        (b"FALLOCATE", 17),
        (b"OPENAT", 18),
        (b"CLOSE", 19),
        (b"STATX", 21),
        (b"READ", 22),
        (b"WRITE", 23),
        (b"OPENAT2", 28),
        (b"RENAMEAT", 35),
        (b"UNLINKAT", 36),
        (b"MKDIRAT", 37),
    ];
    if let Some((number, _)) = decimal(text) {
        return u8::try_from(number).unwrap_or(0);
    }
    let length = text.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
    NAMES.iter().find(|(name, _)| *name == &text[..length]).map_or(0, |&(_, number)| number)
}
