//! The arguments of a call.

use crate::formats::number::{after, decimal, number};
use crate::tracepoints::Syscall;

/// The meaning of a call for the trace.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// A call on files.
    Call {
        call: Syscall,
        args: [u64; 6],
        path: Option<Box<str>>,
        target: Option<Box<str>>,
    },
    /// A new task; threads share descriptors.
    Made {
        is_thread: bool,
    },
    /// `io_submit`
    Submit,
    /// `io_getevents`
    Collect,
    None,
}

/// `O_DIRECT` of x86.
const O_DIRECT: u64 = 0o40000;

pub(super) fn effect(name: &[u8], args: &[u8]) -> Effect {
    match name {
        b"clone" | b"clone3" => {
            return Effect::Made { is_thread: memchr::memmem::find(args, b"CLONE_THREAD").is_some() };
        }
        b"fork" | b"vfork" => return Effect::Made { is_thread: false },
        b"io_submit" => return Effect::Submit,
        b"io_getevents" | b"io_pgetevents" => return Effect::Collect,
        _ => {}
    }
    let Some(call) = named(name) else { return Effect::None };
    let parts = split(args);
    let part = |at: usize| parts.get(at).copied().unwrap_or_default();
    let whole = |at: usize| number(part(at)).map_or(0, |(value, _)| value as u64);
    let mut values = [whole(0), whole(1), whole(2), whole(3), whole(4), whole(5)];
    let mut path = None;
    use Syscall as S;
    match call {
        S::Readv | S::Writev | S::Preadv | S::Preadv2 | S::Pwritev | S::Pwritev2 => {
            values[2] = vector(part(1))
        }
        S::Open | S::Creat => {
            path = quoted(part(0));
            values[1] = flags(part(1));
        }
        S::Openat => {
            path = quoted(part(1)).map(|path| beneath(part(0), path));
            values[2] = flags(part(2));
        }
        S::Openat2 => path = quoted(part(1)),
        _ => {}
    }
    let target = if call.takes_descriptor() { annotation(part(0)) } else { None };
    let call = match call {
        S::Readv => S::Read,
        S::Writev => S::Write,
        S::Preadv | S::Preadv2 => S::Pread64,
        S::Pwritev | S::Pwritev2 => S::Pwrite64,
        call => call,
    };
    Effect::Call { call, args: values, path, target }
}

/// strace uses the kernel's names with a few exceptions.
fn named(name: &[u8]) -> Option<Syscall> {
    match name {
        b"fstat" | b"newfstatat" => Some(Syscall::Newfstat),
        b"sendfile" => Some(Syscall::Sendfile64),
        b"getdents" => Some(Syscall::Getdents64),
        _ => Syscall::from_name(name),
    }
}

/// Splits at commas outside quotes and brackets.
pub(super) fn split(args: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::with_capacity(6);
    let (mut begin, mut depth, mut at) = (0, 0i32, 0);
    while at < args.len() {
        match args[at] {
            b'"' => at = end_of_quotes(args, at + 1),
            b'[' | b'{' | b'(' => depth += 1,
            b']' | b'}' | b')' => depth -= 1,
            // The path of a descriptor from `-y` may contain anything.
            b'<' if at > 0 && args[at - 1].is_ascii_digit() => at = end_of_annotation(args, at + 1),
            b',' if depth == 0 => {
                parts.push(args[begin..at].trim_ascii());
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(args[begin.min(args.len())..].trim_ascii());
    parts
}

fn end_of_quotes(args: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < args.len() && args[at] != b'"' {
        at += if args[at] == b'\\' { 2 } else { 1 };
    }
    at
}

fn end_of_annotation(args: &[u8], from: usize) -> usize {
    let is_end = |at: &usize| {
        args[*at] == b'>' && matches!(args.get(at + 1), None | Some(b',' | b')' | b'}' | b']' | b' '))
    };
    (from..args.len()).find(is_end).unwrap_or(args.len())
}

/// The path in `3</mnt/file>`.
pub(super) fn annotation(arg: &[u8]) -> Option<Box<str>> {
    let (_, rest) = decimal(arg)?;
    let path = rest.strip_prefix(b"<")?.strip_suffix(b">")?;
    // Devices have their numbers after the path: `/dev/null<char 1:3>`.
    let end = memchr::memmem::find(path, b"<").unwrap_or(path.len());
    let text = String::from_utf8_lossy(&path[..end]);
    Some(text.trim_end_matches(" (deleted)").into())
}

fn quoted(arg: &[u8]) -> Option<Box<str>> {
    let inner = arg.strip_prefix(b"\"")?;
    let inner = &inner[..end_of_quotes(inner, 0).min(inner.len())];
    Some(String::from_utf8_lossy(inner).into())
}

/// A path relative to a folder from `-y`: `AT_FDCWD</home/user>`.
fn beneath(folder: &[u8], path: Box<str>) -> Box<str> {
    let known =
        memchr::memchr(b'<', folder).map(|at| &folder[at + 1..]).and_then(|folder| folder.strip_suffix(b">"));
    match known {
        Some(folder) if !path.starts_with('/') => {
            format!("{}/{path}", String::from_utf8_lossy(folder).trim_end_matches('/')).into()
        }
        _ => path,
    }
}

fn flags(arg: &[u8]) -> u64 {
    let is_direct = arg.split(|&byte| byte == b'|').any(|flag| flag == b"O_DIRECT");
    if is_direct { O_DIRECT } else { 0 }
}

/// The total size of a vector.
fn vector(arg: &[u8]) -> u64 {
    let mut total: u64 = 0;
    let mut rest = arg;
    while let Some(tail) = after(rest, b"iov_len=") {
        total = total.saturating_add(decimal(tail).map_or(0, |(length, _)| length));
        rest = tail;
    }
    total
}
