//! Logs of Ceph: of daemons (`time thread level text`), and of clusters
//! (`time who (who) number : cluster [LEVEL] text`).

use memchr::memmem;

use super::cursor::Cursor;
use super::{Clock, dates};
use crate::line::{Line, Severity};

pub(super) fn line<'l>(bytes: &'l [u8], _: &Clock) -> Option<Line<'l>> {
    let mut rest = Cursor(bytes);
    let time = dates::iso(&mut rest)?;
    rest.blanks();
    let line = daemon(rest).or_else(|| cluster(rest))?;
    Some(Line { time: Some(time), ..line })
}

/// `7f6fa1d2ad80 -1 osd.0 12 text`.
fn daemon(mut rest: Cursor<'_>) -> Option<Line<'_>> {
    let thread = rest.word();
    if thread.len() < 8 || !thread.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    rest.blanks();
    let severity = match rest.word() {
        b"-1" => Severity::Error,
        b"0" => Severity::Notice,
        b"1" | b"2" | b"3" | b"4" | b"5" => Severity::Info,
        level if !level.is_empty() && level.iter().all(u8::is_ascii_digit) => Severity::Debug,
        _ => return None,
    };
    Some(Line { severity: Some(severity), text: rest.0.trim_ascii(), ..Line::default() })
}

/// `mon.ceph1 (mon.0) 187359 : cluster [DBG] text`.
fn cluster(rest: Cursor<'_>) -> Option<Line<'_>> {
    let component = rest.0.split(|byte| *byte == b' ').next()?;
    let at = memmem::find(rest.0.get(..rest.0.len().min(200))?, b" : ")?;
    let mut rest = Cursor(rest.0.get(at + 3..)?);
    rest.until(b'[')?;
    let severity = match rest.until(b']')? {
        b"ERR" => Severity::Error,
        b"WRN" => Severity::Warning,
        b"INF" => Severity::Info,
        b"DBG" => Severity::Debug,
        _ => return None,
    };
    Some(Line { severity: Some(severity), component, text: rest.0.trim_ascii(), ..Line::default() })
}
