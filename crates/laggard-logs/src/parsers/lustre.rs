//! Lustre's debug buffer (`lctl debug_kernel`), and what it writes on consoles.

use laggard_core::model::time::Timestamp;
use memchr::memmem;

use super::cursor::{Cursor, hexadecimal};
use super::{Clock, dates};
use crate::line::{Line, Severity};

/// `subsystem:mask:cpu:seconds:stack:pid:external:(file:line:function()) text`, or a line of a console.
pub(super) fn line<'l>(bytes: &'l [u8], _: &Clock) -> Option<Line<'l>> {
    debug(bytes).or_else(|| console(bytes))
}

fn debug(bytes: &[u8]) -> Option<Line<'_>> {
    let mut rest = Cursor(bytes);
    hexadecimal(rest.until(b':')?).filter(|_| bytes.get(8) == Some(&b':'))?;
    let mask = hexadecimal(rest.until(b':')?)?;
    rest.until(b':')?;
    let time = dates::seconds(&mut rest)?;
    rest.skip(b":")?;
    rest.until(b'(').filter(|numbers| numbers.len() <= 40)?;
    let (component, function, text) = origin(rest.0)?;
    let time = Some(Timestamp::from_micros(time.micros()));
    Some(Line { time, severity: severity(mask), component, function, text })
}

/// `LustreError: 2345:0:(client.c:2116:ptlrpc_expire_one_request()) text`, `Lustre: lustre-OST0000: text`.
pub(super) fn console(bytes: &[u8]) -> Option<Line<'_>> {
    let mut rest = Cursor(bytes);
    let severity = match rest.until(b':')? {
        b"LustreError" | b"LNetError" => Severity::Error,
        b"Lustre" | b"LNet" => Severity::Notice,
        _ => return None,
    };
    rest.blanks();
    let is_numbers = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
    let mut after = rest;
    let placed = after.until(b'(').filter(|numbers| is_numbers(numbers)).and_then(|_| origin(after.0));
    let (component, function, text) = placed.unwrap_or((b"", b"", rest.0));
    Some(Line { time: None, severity: Some(severity), component, function, text })
}

/// `file:line:function()) text`: file, function and text.
fn origin(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let end = memmem::find(bytes.get(..bytes.len().min(200))?, b"()) ").or_else(|| {
        // A message may be empty.
        bytes.ends_with(b"())").then(|| bytes.len() - 3)
    })?;
    let mut rest = Cursor(bytes.get(..end)?);
    let file = rest.until(b':')?;
    rest.until(b':')?;
    Some((file, rest.0, bytes.get(end + 4..).unwrap_or(b"")))
}

/// Severities of the bits of the mask (libcfs_debug.h).
fn severity(mask: u32) -> Option<Severity> {
    const EMERGENCY: u32 = 0x0004_0000;
    const ERROR: u32 = 0x0002_0000;
    const NETWORK_ERROR: u32 = 0x0000_0100;
    const WARNING: u32 = 0x0000_0400;
    const CONSOLE: u32 = 0x0200_0000;
    Some(match mask {
        _ if mask & EMERGENCY != 0 => Severity::Emergency,
        _ if mask & ERROR != 0 => Severity::Error,
        _ if mask & (WARNING | NETWORK_ERROR) != 0 => Severity::Warning,
        _ if mask & CONSOLE != 0 => Severity::Notice,
        _ => Severity::Debug,
    })
}
