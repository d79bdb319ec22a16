//! Dates as logs write them.

use jiff::civil::DateTime;
use jiff::tz::Offset;
use laggard_core::model::time::{Span, Timestamp};

use super::Clock;
use super::cursor::{Cursor, digits, fixed};

const MONTHS: [&[u8]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// `2026-11-15 19:54:25.709951 +0000`, `2022-02-10T09:32:05.746+0000`, `2022-02-10T09:32:05,746+01:00`, `...Z`.
/// Without a zone it is taken as UTC.
pub(super) fn iso(cursor: &mut Cursor<'_>) -> Option<Timestamp> {
    let year = fixed(cursor, 4)?;
    cursor.skip(b"-")?;
    let month = fixed(cursor, 2)?;
    cursor.skip(b"-")?;
    let day = fixed(cursor, 2)?;
    if !matches!(cursor.take(1)?, b" " | b"T") {
        return None;
    }
    let (clock, micros) = of_day(cursor)?;
    let time = timestamp(i16::try_from(year).ok()?, month, day, clock, micros)?;
    Some(time - zone(cursor))
}

/// `Feb07 19:48:58`, `Feb  7 19:48:58`: the year is the clock's.
pub(super) fn short(cursor: &mut Cursor<'_>, clock: &Clock) -> Option<Timestamp> {
    let name = cursor.take(3)?;
    let month = MONTHS.iter().position(|month| *month == name)? as i64 + 1;
    cursor.blanks();
    let day = cursor.number()?;
    cursor.blanks();
    let (time, micros) = of_day(cursor)?;
    timestamp(clock.year, month, day, time, micros)
}

/// A date of either kind; of one that is neither, nothing is taken.
pub(super) fn any(cursor: &mut Cursor<'_>, clock: &Clock) -> Option<Timestamp> {
    let mut tried = *cursor;
    let time = iso(&mut tried).or_else(|| {
        tried = *cursor;
        short(&mut tried, clock)
    })?;
    *cursor = tried;
    Some(time)
}

/// Seconds with parts of them, since 1970 or since the start of the host.
pub(super) fn seconds(cursor: &mut Cursor<'_>) -> Option<Span> {
    let whole = cursor.number()?;
    let micros = parts(cursor);
    Some(Span::from_micros(whole.checked_mul(1_000_000)?.checked_add(micros)?))
}

/// `19:48:58.25`: hour, minute and second, and millionths.
fn of_day(cursor: &mut Cursor<'_>) -> Option<((i64, i64, i64), i64)> {
    let hour = fixed(cursor, 2)?;
    cursor.skip(b":")?;
    let minute = fixed(cursor, 2)?;
    cursor.skip(b":")?;
    let second = fixed(cursor, 2)?;
    Some(((hour, minute, second), parts(cursor)))
}

/// Parts of a second, as millionths; none is 0.
fn parts(cursor: &mut Cursor<'_>) -> i64 {
    let mut rest = *cursor;
    if !matches!(rest.take(1), Some(b"." | b",")) {
        return 0;
    }
    let length = rest.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let Some(written) = rest.take(length).filter(|written| !written.is_empty()) else { return 0 };
    *cursor = rest;
    let kept = written.get(..6).unwrap_or(written);
    digits(kept) * 10_i64.pow(6 - kept.len() as u32)
}

/// `+0000`, ` +0100`, `+01:00`, `Z`: how far ahead of UTC.
fn zone(cursor: &mut Cursor<'_>) -> Span {
    let mut rest = *cursor;
    let _ = rest.skip(b" ");
    let (sign, hours) = match (rest.take(1), fixed(&mut rest, 2)) {
        (Some(b"+"), Some(hours)) => (1, hours),
        (Some(b"-"), Some(hours)) => (-1, hours),
        (Some(b"Z"), _) => {
            let _ = cursor.skip(b"Z");
            return Span::ZERO;
        }
        _ => return Span::ZERO,
    };
    let _ = rest.skip(b":");
    match fixed(&mut rest, 2) {
        Some(minutes) => {
            *cursor = rest;
            Span::from_seconds(sign * (hours * 3600 + minutes * 60))
        }
        None => Span::ZERO,
    }
}

fn timestamp(year: i16, month: i64, day: i64, time: (i64, i64, i64), micros: i64) -> Option<Timestamp> {
    let small = |value: i64| i8::try_from(value).ok();
    // A leap second counts as the second before it, as elsewhere.
    let second = time.2.min(59);
    let civil = DateTime::new(
        year,
        small(month)?,
        small(day)?,
        small(time.0)?,
        small(time.1)?,
        small(second)?,
        i32::try_from(micros * 1000).ok()?,
    );
    Offset::UTC.to_timestamp(civil.ok()?).ok().map(Timestamp::from)
}
