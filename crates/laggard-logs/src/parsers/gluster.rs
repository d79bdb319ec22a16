//! Logs of GlusterFS: `[time] L [MSGID: n] [file:line:function] graph: text [{key=value}]`.

use super::cursor::Cursor;
use super::{Clock, dates};
use crate::line::{Line, Severity};

pub(super) fn line<'l>(bytes: &'l [u8], _: &Clock) -> Option<Line<'l>> {
    let mut rest = Cursor(bytes);
    rest.skip(b"[")?;
    let time = dates::iso(&mut rest)?;
    rest.skip(b"] ")?;
    let Some(severity) = letter(&mut rest) else {
        // `cmd_history.log` has no letter.
        rest.skip(b" : ")?;
        return Some(Line { time: Some(time), text: rest.0, ..Line::default() });
    };
    if rest.skip(b"[MSGID: ").is_some() {
        rest.until(b']')?;
        rest.blanks();
    }
    let (function, mut rest) = origin(rest);
    let component = graph(&mut rest);
    Some(Line { time: Some(time), severity: Some(severity), component, function, text: rest.0.trim_ascii() })
}

/// The severity, of which GlusterFS has nine: `M` is the gravest, `A` comes next.
fn letter(rest: &mut Cursor<'_>) -> Option<Severity> {
    let mut after = *rest;
    let severity = match after.take(1)? {
        b"M" | b"A" => Severity::Emergency,
        b"C" => Severity::Critical,
        b"E" => Severity::Error,
        b"W" => Severity::Warning,
        b"N" => Severity::Notice,
        b"I" => Severity::Info,
        b"D" | b"T" => Severity::Debug,
        _ => return None,
    };
    after.skip(b" ")?;
    *rest = after;
    Some(severity)
}

/// `[file:line:function] `.
fn origin(rest: Cursor<'_>) -> (&[u8], Cursor<'_>) {
    let mut after = rest;
    let found = after.skip(b"[").and_then(|()| after.until(b']'));
    after.blanks();
    match found.and_then(|place| place.rsplit(|byte| *byte == b':').next()) {
        Some(function) => (function, after),
        None => (b"", rest),
    }
}

/// `0-v1-client-0: `: the part of the volume's graph that speaks.
fn graph<'l>(rest: &mut Cursor<'l>) -> &'l [u8] {
    let mut after = *rest;
    match after.until(b':').filter(|name| !name.contains(&b' ')) {
        Some(name) => {
            after.blanks();
            *rest = after;
            name
        }
        None => b"",
    }
}
