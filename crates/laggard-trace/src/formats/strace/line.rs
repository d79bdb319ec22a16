//! Parses a line: task, time, call.

use crate::formats::number::{decimal, seconds};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'l> {
    pub tid: u32,
    /// On the wall clock, or since midnight.
    pub ts_ns: Option<u64>,
    pub kind: LineKind<'l>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineKind<'l> {
    /// A complete call.
    Whole { name: &'l [u8], args: &'l [u8], result: Outcome },
    /// `name(args <unfinished ...>`
    Begun { name: &'l [u8], args: &'l [u8] },
    /// `<... name resumed>args) = result`
    Resumed { name: &'l [u8], args: &'l [u8], result: Outcome },
    /// A signal or the exit of a process.
    Other { is_end: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// A negative error number for -1. None: the call did not return.
    pub value: Option<i64>,
    pub took_ns: Option<u64>,
}

pub(super) fn parsed(line: &[u8]) -> Option<Line<'_>> {
    let (tid, rest) = task(line);
    let (ts_ns, rest) = time(rest);
    let kind = if let Some(rest) = rest.strip_prefix(b"<... ") {
        resumed(rest)?
    } else if rest.starts_with(b"+++ ") || rest.starts_with(b"--- ") {
        LineKind::Other { is_end: rest.starts_with(b"+++ ") }
    } else {
        call(rest)?
    };
    Some(Line { tid, ts_ns, kind })
}

/// `[pid  18081] ` or `18081 ` at the beginning; absent without `-f`.
fn task(line: &[u8]) -> (u32, &[u8]) {
    let line = line.trim_ascii_start();
    if let Some(inner) = line.strip_prefix(b"[pid ")
        && let Some((tid, rest)) = decimal(inner.trim_ascii_start())
        && let Some(rest) = rest.strip_prefix(b"]")
    {
        return (u32::try_from(tid).unwrap_or(0), rest.trim_ascii_start());
    }
    match decimal(line) {
        Some((tid, rest)) if rest.starts_with(b" ") => {
            (u32::try_from(tid).unwrap_or(0), rest.trim_ascii_start())
        }
        _ => (0, line),
    }
}

/// `1794772608.149202 ` with `-ttt`, or `14:02:33.149202 ` with `-tt`.
fn time(text: &[u8]) -> (Option<u64>, &[u8]) {
    let stamped = || {
        let (first, rest) = decimal(text)?;
        let (ts_ns, rest) = match rest.strip_prefix(b":") {
            None => seconds(text)?,
            Some(rest) => {
                let (minutes, rest) = decimal(rest)?;
                let (within_ns, rest) = seconds(rest.strip_prefix(b":")?)?;
                let whole = first.checked_mul(3600)?.checked_add(minutes.checked_mul(60)?)?;
                (whole.checked_mul(1_000_000_000)?.checked_add(within_ns)?, rest)
            }
        };
        Some((ts_ns, rest.strip_prefix(b" ")?.trim_ascii_start()))
    };
    stamped().map_or((None, text), |(ts_ns, rest)| (Some(ts_ns), rest))
}

fn call(text: &[u8]) -> Option<LineKind<'_>> {
    let open = memchr::memchr(b'(', text)?;
    let (name, args) = (&text[..open], &text[open + 1..]);
    let is_name = !name.is_empty() && name.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name {
        return None;
    }
    if let Some(args) = args.strip_suffix(b"<unfinished ...>") {
        return Some(LineKind::Begun { name, args: args.trim_ascii_end() });
    }
    let (args, result) = ended(args)?;
    Some(LineKind::Whole { name, args, result })
}

fn resumed(text: &[u8]) -> Option<LineKind<'_>> {
    let end = memchr::memmem::find(text, b" resumed>")?;
    let (args, result) = ended(&text[end + 9..])?;
    Some(LineKind::Resumed { name: &text[..end], args, result })
}

/// `args) = result <0.000049>`; a result of `?` means that the call did not return.
fn ended(text: &[u8]) -> Option<(&[u8], Outcome)> {
    let equals = memchr::memmem::rfind(text, b" = ")?;
    let args = text[..equals].trim_ascii_end();
    let args = args.strip_suffix(b")").unwrap_or(args);
    let result = text[equals + 3..].trim_ascii();
    let took_ns = result
        .strip_suffix(b">")
        .and_then(|text| Some(&text[memchr::memrchr(b'<', text)? + 1..]))
        .and_then(seconds)
        .map(|(took_ns, _)| took_ns);
    Some((args, Outcome { value: value(result), took_ns }))
}

fn value(text: &[u8]) -> Option<i64> {
    if let Some(error) = text.strip_prefix(b"-1 ") {
        let end = error.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(error.len());
        return Some(-errno(&error[..end]));
    }
    crate::formats::number::number(text).map(|(value, _)| value)
}

/// The numbers of errors that occur in I/O; unknown names become 1 (EPERM).
fn errno(name: &[u8]) -> i64 {
    const NAMES: [(&[u8], i64); 36] = [
        (b"EPERM", 1),
        (b"ENOENT", 2),
        (b"ESRCH", 3),
        (b"EINTR", 4),
        (b"EIO", 5),
        (b"ENXIO", 6),
        (b"EBADF", 9),
        (b"EAGAIN", 11),
        (b"ENOMEM", 12),
        (b"EACCES", 13),
        (b"EFAULT", 14),
        (b"EBUSY", 16),
        (b"EEXIST", 17),
        (b"EXDEV", 18),
        (b"ENODEV", 19),
        (b"ENOTDIR", 20),
        (b"EISDIR", 21),
        (b"EINVAL", 22),
        (b"ENFILE", 23),
        (b"EMFILE", 24),
        (b"ENOTTY", 25),
        (b"ETXTBSY", 26),
        (b"EFBIG", 27),
        (b"ENOSPC", 28),
        (b"ESPIPE", 29),
        (b"EROFS", 30),
        (b"EPIPE", 32),
        (b"ENAMETOOLONG", 36),
        (b"ENOTEMPTY", 39),
        (b"ELOOP", 40),
        (b"ENODATA", 61),
        (b"ENOTCONN", 107),
        (b"ETIMEDOUT", 110),
        (b"EHOSTUNREACH", 113),
        (b"ESTALE", 116),
        (b"EDQUOT", 122),
    ];
    NAMES.iter().find(|(known, _)| *known == name).map_or(1, |&(_, number)| number)
}
