//! Messages of the kernel: `[  123.456789] text`, `<3>[  123.456789] text`, `3,1234,123456789,-;text` of /dev/kmsg,
//! and `2026-11-15T19:54:25,709951+00:00 text` of `dmesg --time-format iso`.

use laggard_core::model::time::{Span, Timestamp};

use super::cursor::Cursor;
use super::{Clock, dates, lustre};
use crate::line::{Line, Severity};

pub(super) fn line<'l>(bytes: &'l [u8], clock: &Clock) -> Option<Line<'l>> {
    device(bytes, clock).or_else(|| printed(bytes, clock))
}

/// A message that something else has dated already, perhaps with the kernel's own time before it.
pub(super) fn message<'l>(bytes: &'l [u8], clock: &Clock) -> Line<'l> {
    printed(bytes, clock).unwrap_or_else(|| text(bytes))
}

/// `level,number,microseconds,flags;text`.
fn device<'l>(bytes: &'l [u8], clock: &Clock) -> Option<Line<'l>> {
    let mut rest = Cursor(bytes);
    let level = rest.number()?;
    rest.skip(b",")?;
    rest.number()?;
    rest.skip(b",")?;
    let uptime = Span::from_micros(rest.number()?);
    rest.skip(b",")?;
    rest.until(b';')?;
    Some(Line { time: since_boot(uptime, clock), severity: severity(level), ..text(rest.0) })
}

fn printed<'l>(bytes: &'l [u8], clock: &Clock) -> Option<Line<'l>> {
    let mut rest = Cursor(bytes);
    let mut level = None;
    if rest.skip(b"<").is_some() {
        level = severity(rest.number()?);
        rest.skip(b">")?;
    }
    let time = if rest.skip(b"[").is_some() {
        rest.blanks();
        let uptime = dates::seconds(&mut rest)?;
        rest.skip(b"]")?;
        since_boot(uptime, clock)
    } else {
        // Only dmesg writes a comma before the fraction of a second.
        bytes.get(19).filter(|byte| **byte == b',')?;
        Some(dates::iso(&mut rest)?)
    };
    rest.skip(b" ")?;
    let line = text(rest.0);
    Some(Line { time, severity: level.or(line.severity), ..line })
}

/// Lustre speaks through the kernel, too.
fn text(bytes: &[u8]) -> Line<'_> {
    lustre::console(bytes).unwrap_or(Line { component: b"kernel", ..Line::bare(bytes) })
}

fn since_boot(uptime: Span, clock: &Clock) -> Option<Timestamp> {
    Some(clock.booted? + uptime)
}

/// The lowest three bits; the others say who speaks.
fn severity(level: i64) -> Option<Severity> {
    Some(match level & 7 {
        0 | 1 => Severity::Emergency,
        2 => Severity::Critical,
        3 => Severity::Error,
        4 => Severity::Warning,
        5 => Severity::Notice,
        6 => Severity::Info,
        _ => Severity::Debug,
    })
}
