//! Any other line: a date at its start, perhaps in brackets, and a text.

use laggard_core::model::time::Timestamp;

use super::super::line::Line;
use super::cursor::Cursor;
use super::{Clock, dates};

pub(super) fn line<'l>(bytes: &'l [u8], clock: &Clock) -> Option<Line<'l>> {
    let mut rest = Cursor(bytes);
    let is_bracketed = rest.skip(b"[").is_some();
    let time = date(&mut rest, clock)?;
    if is_bracketed {
        rest.skip(b"]")?;
    }
    Some(Line { time: Some(time), text: rest.0.trim_ascii(), ..Line::default() })
}

fn date(rest: &mut Cursor<'_>, clock: &Clock) -> Option<Timestamp> {
    let mut tried = *rest;
    let time = dates::iso(&mut tried).or_else(|| {
        tried = *rest;
        dates::short(&mut tried, clock)
    })?;
    *rest = tried;
    Some(time)
}
