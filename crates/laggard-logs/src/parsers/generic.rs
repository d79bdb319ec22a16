//! Any other line: a date at its start, perhaps in brackets, and a text.

use super::cursor::Cursor;
use super::{Clock, dates};
use crate::line::Line;

pub(super) fn line<'l>(bytes: &'l [u8], clock: &Clock) -> Option<Line<'l>> {
    let mut rest = Cursor(bytes);
    let is_bracketed = rest.skip(b"[").is_some();
    let time = dates::any(&mut rest, clock)?;
    if is_bracketed {
        rest.skip(b"]")?;
    }
    Some(Line { time: Some(time), text: rest.0.trim_ascii(), ..Line::default() })
}
