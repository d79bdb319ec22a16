//! Lines of syslog and journals: `Feb  7 19:48:58 host program[pid]: text`, or with a whole date.

use super::cursor::Cursor;
use super::{Clock, dates, kernel};
use crate::line::Line;

pub(super) fn line<'l>(bytes: &'l [u8], clock: &Clock) -> Option<Line<'l>> {
    let mut rest = Cursor(bytes);
    let time = dates::any(&mut rest, clock)?;
    rest.skip(b" ")?;
    rest.word();
    let tag = rest.until(b':').filter(|tag| !tag.is_empty() && !tag.contains(&b' '))?;
    rest.skip(b" ")?;
    let component = tag.split(|byte| *byte == b'[').next().unwrap_or(tag);
    let line = match component {
        b"kernel" => kernel::message(rest.0, clock),
        _ => Line::bare(rest.0),
    };
    let component = if line.component.is_empty() { component } else { line.component };
    Some(Line { time: Some(time), component, ..line })
}
