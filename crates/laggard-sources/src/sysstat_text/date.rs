//! Dates and times as printed by sysstat's tools, in the format of any locale.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use laggard_core::model::time::Timestamp;

/// Reads the dates of one file. An ambiguous date (11/10: October or November?) is resolved by the others.
#[derive(Default)]
pub(crate) struct Calendar {
    order: Option<Order>,
    /// True if a date was ambiguous.
    pub(crate) guessed: bool,
    /// True if a time had no zone and was taken as UTC.
    pub(crate) zoneless: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    DayFirst,
    MonthFirst,
}

impl Calendar {
    /// `2026-11-15T20:08:27+0100`, `11/15/26 20:08:27`, `07/27/2010 12:46:07 PM`, `27.07.2010 12:46:07`.
    pub(crate) fn instant(&mut self, text: &str) -> Option<Timestamp> {
        if let Ok(zoned) = text.trim().parse::<jiff::Timestamp>() {
            return Some(zoned.into());
        }
        let (day, clock) = text.trim().split_once([' ', 'T'])?;
        let (day, clock) = (self.date(day)?, time(clock)?);
        self.at(day, clock)
    }

    pub(crate) fn at(&mut self, date: Date, time: Time) -> Option<Timestamp> {
        self.zoneless = true;
        utc(date, time)
    }

    /// `2026-11-15`, `11/15/26`, `27.07.2010`.
    pub(crate) fn date(&mut self, text: &str) -> Option<Date> {
        let mut parts = text.split(['/', '-', '.', '年', '月', '日']).filter(|part| !part.is_empty());
        let [a, b, c] = [parts.next()?, parts.next()?, parts.next()?];
        let (first, second) = (a.parse::<i8>().ok(), b.parse().ok()?);
        match first {
            _ if parts.next().is_some() => None,
            Some(first) if a.len() <= 2 => self.ordered(first, second, year(c)?, text.contains('.')),
            _ => Date::new(year(a)?, second, c.parse().ok()?).ok(),
        }
    }

    fn ordered(&mut self, first: i8, second: i8, year: i16, dotted: bool) -> Option<Date> {
        let certain = match (first, second) {
            (13.., _) => Some(Order::DayFirst),
            (_, 13..) => Some(Order::MonthFirst),
            _ if dotted => Some(Order::DayFirst),
            _ => None,
        };
        self.order = certain.or(self.order);
        let order = self.order.unwrap_or(Order::MonthFirst);
        self.guessed |= self.order.is_none() && first != second;
        let (month, day) = if order == Order::DayFirst { (second, first) } else { (first, second) };
        Date::new(year, month, day).ok()
    }

    /// Notes about assumptions.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = &'static str> {
        let zoneless = "the times have no time zone and were read as UTC";
        let guessed = "the dates were read as month/day/year";
        [(self.zoneless, zoneless), (self.guessed, guessed)].into_iter().filter(|r| r.0).map(|r| r.1)
    }
}

/// `20:08:27`, `03:49:57 PM`.
pub(crate) fn time(text: &str) -> Option<Time> {
    let (clock, half) = match text.trim().split_once(' ') {
        Some((clock, half)) => (clock, Some(half.trim())),
        None => (text.trim(), None),
    };
    let mut parts = clock.split([':', '.']);
    let mut part = || parts.next()?.parse::<i8>().ok();
    let (hour, minute, second) = (part()?, part()?, part()?);
    let hour = match half {
        None => hour,
        Some("AM" | "am") => hour % 12,
        Some("PM" | "pm") => hour % 12 + 12,
        Some(_) => return None,
    };
    Time::new(hour, minute, second, 0).ok()
}

pub(crate) fn utc(date: Date, time: Time) -> Option<Timestamp> {
    Some(date.to_datetime(time).to_zoned(TimeZone::UTC).ok()?.timestamp().into())
}

/// As in POSIX: 69 to 99 are in the last century.
fn year(text: &str) -> Option<i16> {
    match (text.len(), text.parse::<i16>().ok()?) {
        (4, year) => Some(year),
        (2, year @ 69..) => Some(1900 + year),
        (2, year @ 0..) => Some(2000 + year),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        Calendar::default().instant(text).map_or_else(|| "unreadable".into(), |t| t.to_string())
    }

    #[test]
    fn dates_of_many_locales_are_understood() {
        assert_eq!(read("2010-07-27T12:46:07+1000"), "2010-07-27T02:46:07Z");
        assert_eq!(read("11/15/26 20:08:27"), "2026-11-15T20:08:27Z");
        assert_eq!(read("07/27/2010 12:46:07 PM"), "2010-07-27T12:46:07Z");
        assert_eq!(read("27/07/10 00:46:07"), "2010-07-27T00:46:07Z");
        assert_eq!(read("05.07.2010 12:46:07"), "2010-07-05T12:46:07Z");
        assert_eq!(read("2010年07月27日 12:46:07"), "2010-07-27T12:46:07Z");
        assert_eq!(read("07/27/2010 12:46:07 AM"), "2010-07-27T00:46:07Z");
    }

    #[test]
    fn nonsense_is_not_a_date() {
        for text in ["", "13/13/26 00:00:00", "11/15/26", "11/15/26 25:00:00", "a/b/c 1:2:3", "1/2/3/4 1:2:3"]
        {
            assert_eq!(read(text), "unreadable", "{text}");
        }
    }

    #[test]
    fn an_unambiguous_date_resolves_later_ones() {
        let mut calendar = Calendar::default();
        calendar.date("31/10/26").unwrap();
        assert_eq!(calendar.date("01/11/26").unwrap(), jiff::civil::date(2026, 11, 1));
        assert!(!calendar.guessed);
    }

    #[test]
    fn an_ambiguous_date_is_noted() {
        let mut calendar = Calendar::default();
        assert_eq!(calendar.date("10/11/26").unwrap(), jiff::civil::date(2026, 10, 11));
        assert!(calendar.guessed);
    }
}
