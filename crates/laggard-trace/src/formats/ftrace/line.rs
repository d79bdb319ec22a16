//! The beginning of each line: task, processor, time.

use crate::formats::number::{decimal, seconds};
use crate::tracepoints::Comm;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'l> {
    pub ts_ns: u64,
    pub cpu: u16,
    pub tid: u32,
    pub tgid: Option<u32>,
    pub comm: Comm,
    pub event: &'l [u8],
}

/// `  fio-18080   (  18079) [001] .....  1301.842804: ...`. The process is present if the option `record-tgid` is
/// set.
pub(super) fn parsed(line: &[u8]) -> Option<Line<'_>> {
    let (head, cpu, rest) = around_cpu(line)?;
    let (head, tgid) = without_process(head);
    let (comm, tid) = task(head)?;
    let (ts_ns, event) = time(rest)?;
    Some(Line { ts_ns, cpu, tid, tgid, comm: Comm::new(comm), event })
}

/// The text before ` [001]`, the number, and the text after it.
fn around_cpu(line: &[u8]) -> Option<(&[u8], u16, &[u8])> {
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'[', &line[from..]) {
        let at = from + at;
        from = at + 1;
        if let Some((cpu, rest)) = decimal(&line[from..])
            && let Some(rest) = rest.strip_prefix(b"]")
            && at > 0
            && line[at - 1] == b' '
        {
            return Some((&line[..at - 1], u16::try_from(cpu).ok()?, rest));
        }
    }
    None
}

/// Removes a process in parentheses; dashes mean that it is not known.
fn without_process(head: &[u8]) -> (&[u8], Option<u32>) {
    let trimmed = head.trim_ascii_end();
    let Some(inner) = trimmed.strip_suffix(b")") else { return (trimmed, None) };
    let Some(at) = memchr::memrchr(b'(', inner) else { return (trimmed, None) };
    let digits = inner[at + 1..].trim_ascii();
    let tgid =
        decimal(digits).filter(|(_, rest)| rest.is_empty()).and_then(|(tgid, _)| u32::try_from(tgid).ok());
    if tgid.is_none() && !digits.iter().all(|&byte| byte == b'-') {
        return (trimmed, None);
    }
    (inner[..at].trim_ascii_end(), tgid)
}

/// Names may contain spaces and dashes: the number follows the last one.
fn task(head: &[u8]) -> Option<(&[u8], u32)> {
    let digits = head.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (name, digits) = head.split_at(head.len() - digits);
    let (tid, _) = decimal(digits)?;
    let name = match name.split_last()? {
        (b'-' | b' ' | b'/', name) => name,
        _ => return None,
    };
    Some((name.trim_ascii(), u32::try_from(tid).ok()?))
}

/// Skips the interrupt flags, if present.
fn time(rest: &[u8]) -> Option<(u64, &[u8])> {
    let mut rest = rest.trim_ascii_start();
    if let Some((ts_ns, after)) = stamped(rest) {
        return Some((ts_ns, after));
    }
    rest = rest[memchr::memchr(b' ', rest)?..].trim_ascii_start();
    stamped(rest)
}

fn stamped(text: &[u8]) -> Option<(u64, &[u8])> {
    let (ts_ns, rest) = seconds(text)?;
    Some((ts_ns, rest.strip_prefix(b":")?.trim_ascii_start()))
}
