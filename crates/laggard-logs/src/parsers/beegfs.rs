//! Logs of BeeGFS: `(level) Feb07 19:48:58 Thread [Context] >> text`; newer ones write whole dates.

use memchr::memmem;

use super::cursor::Cursor;
use super::{Clock, dates};
use crate::line::{Line, Severity};

pub(super) fn line<'l>(bytes: &'l [u8], clock: &Clock) -> Option<Line<'l>> {
    let mut rest = Cursor(bytes);
    rest.skip(b"(")?;
    let level = rest.take(1)?;
    rest.skip(b") ")?;
    let time = dates::any(&mut rest, clock)?;
    rest.skip(b" ")?;
    let end = memmem::find(rest.0, b" >> ")?;
    let (thread, text) = (rest.take(end)?, rest.0.get(4..)?);
    let context = thread.iter().position(|byte| *byte == b'[').and_then(|at| thread.get(at + 1..));
    let function = context.map_or(&b""[..], |context| context.strip_suffix(b"]").unwrap_or(context));
    let component = thread.split(|byte| *byte == b' ').next().unwrap_or(b"");
    Some(Line { time: Some(time), severity: severity(level), component, function, text: text.trim_ascii() })
}

fn severity(level: &[u8]) -> Option<Severity> {
    Some(match level {
        b"0" => Severity::Error,
        b"1" => Severity::Critical,
        b"2" => Severity::Warning,
        b"3" => Severity::Notice,
        b"4" | b"5" => Severity::Debug,
        _ => return None,
    })
}
