//! Time as UTC microseconds. A [`Timestamp`] is an instant, a [`Span`] a length of time, an [`Uptime`] the age
//! of a boot.

use std::fmt;
use std::str::FromStr;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// An instant in UTC, to the microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Timestamp(i64);

/// A length of time, to the microsecond; may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Span(i64);

/// Time since the host booted. Unlike the wall clock it never steps, so rates are divided by it. If it decreases between
/// two samples, the host was booted in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uptime(i64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimeError {
    #[error("{0:?} is not a time: write it like 2026-11-15T00:00:05Z, 2026-11-15, or -2h")]
    Instant(String),
    #[error("{0:?} is not a length of time: write it like 100ms, 15s, 10m, 1h or 1d")]
    Span(String),
}

impl Timestamp {
    pub const MIN: Timestamp = Timestamp(i64::MIN);
    pub const MAX: Timestamp = Timestamp(i64::MAX);

    /// From microseconds since 1970-01-01T00:00:00Z.
    pub const fn from_micros(micros: i64) -> Self {
        Timestamp(micros)
    }

    /// From whole seconds since 1970-01-01T00:00:00Z.
    pub const fn from_seconds(seconds: i64) -> Self {
        Timestamp(seconds.saturating_mul(1_000_000))
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The last multiple of `step` since the epoch that is not after `self`.
    pub fn floor(self, step: Span) -> Self {
        Timestamp(self.0.saturating_sub(self.0.rem_euclid(step.0)))
    }

    /// The multiple of `step` since the epoch that is closest to `self`; on a tie the later one.
    pub fn nearest(self, step: Span) -> Self {
        (self + Span(step.0 / 2)).floor(step)
    }

    /// Like `20261115T000005Z`: ISO 8601 basic format, as in file names.
    pub fn basic(self) -> String {
        match self.zoned() {
            Some(z) => z.strftime("%Y%m%dT%H%M%SZ").to_string(),
            None => self.0.to_string(),
        }
    }

    /// Parses the format of [`Timestamp::basic`].
    pub fn from_basic(text: &str) -> Option<Self> {
        let civil = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", text).ok()?;
        Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp().into())
    }

    fn zoned(self) -> Option<jiff::Zoned> {
        Some(jiff::Timestamp::from_microsecond(self.0).ok()?.to_zoned(TimeZone::UTC))
    }
}

impl From<jiff::Timestamp> for Timestamp {
    fn from(t: jiff::Timestamp) -> Self {
        Timestamp(t.as_microsecond())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(t) => t.fmt(f),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = TimeError;

    /// ISO 8601 with an offset, or without (UTC), or a date (its first instant).
    fn from_str(text: &str) -> Result<Self, TimeError> {
        let text = text.trim();
        if let Ok(t) = text.parse::<jiff::Timestamp>() {
            return Ok(t.into());
        }
        if let Some(t) = Timestamp::from_basic(text) {
            return Ok(t);
        }
        let civil: jiff::civil::DateTime = text.parse().map_err(|_| TimeError::Instant(text.into()))?;
        let zoned = civil.to_zoned(TimeZone::UTC).map_err(|_| TimeError::Instant(text.into()))?;
        Ok(zoned.timestamp().into())
    }
}

/// Parses an instant, or a time relative to `now` such as `-2h` or `now`.
pub fn parse_time(text: &str, now: Timestamp) -> Result<Timestamp, TimeError> {
    match text.trim() {
        "now" => Ok(now),
        ago if ago.starts_with('-') => {
            let span: Span = ago[1..].parse().map_err(|_| TimeError::Instant(text.into()))?;
            Ok(now - span)
        }
        instant => instant.parse(),
    }
}

impl Span {
    pub const ZERO: Span = Span(0);
    pub const SECOND: Span = Span(1_000_000);
    pub const DAY: Span = Span(86_400_000_000);

    pub const fn from_micros(micros: i64) -> Self {
        Span(micros)
    }

    pub const fn from_millis(millis: i64) -> Self {
        Span(millis.saturating_mul(1000))
    }

    pub const fn from_seconds(seconds: i64) -> Self {
        Span(seconds.saturating_mul(1_000_000))
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl fmt::Display for Span {
    /// Exact, in the largest units: `15s`, `1m30s`, `100ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let mut rest = self.0.unsigned_abs();
        for (unit, micros) in [
            ("d", 86_400_000_000),
            ("h", 3_600_000_000),
            ("m", 60_000_000),
            ("s", 1_000_000),
            ("ms", 1000),
            ("us", 1),
        ] {
            if rest >= micros {
                write!(f, "{}{unit}", rest / micros)?;
                rest %= micros;
            }
        }
        Ok(())
    }
}

impl FromStr for Span {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let wrong = || TimeError::Span(text.into());
        let span: jiff::Span = text.trim().parse().map_err(|_| wrong())?;
        let days_are_24_hours = jiff::SpanRelativeTo::days_are_24_hours();
        let length = span.to_duration(days_are_24_hours).map_err(|_| wrong())?;
        i64::try_from(length.as_micros()).map(Span).map_err(|_| wrong())
    }
}

impl Uptime {
    pub const fn from_micros(micros: i64) -> Self {
        Uptime(micros)
    }

    pub const fn micros(self) -> i64 {
        self.0
    }
}

impl std::ops::Add<Span> for Timestamp {
    type Output = Timestamp;
    fn add(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_add(span.0))
    }
}

impl std::ops::Sub<Span> for Timestamp {
    type Output = Timestamp;
    fn sub(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_sub(span.0))
    }
}

impl std::ops::Sub for Timestamp {
    type Output = Span;
    fn sub(self, other: Timestamp) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl std::ops::Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl std::ops::Mul<i64> for Span {
    type Output = Span;
    fn mul(self, times: i64) -> Span {
        Span(self.0.saturating_mul(times))
    }
}

macro_rules! serialized_as_text {
    ($($type:ty),*) => {$(
        impl From<$type> for String {
            fn from(value: $type) -> String {
                value.to_string()
            }
        }
        impl TryFrom<String> for $type {
            type Error = TimeError;
            fn try_from(text: String) -> Result<Self, TimeError> {
                text.parse()
            }
        }
    )*};
}
serialized_as_text!(Timestamp, Span);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_read_back_as_written() {
        for text in ["2026-11-15T00:00:05Z", "2026-11-15T00:00:05.25Z", "1969-12-31T23:59:59Z"] {
            assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_time_without_zone_is_utc_and_a_date_is_its_midnight() {
        let midnight: Timestamp = "2026-11-15T00:00:00Z".parse().unwrap();
        assert_eq!("2026-11-15".parse::<Timestamp>().unwrap(), midnight);
        assert_eq!("2026-11-15 00:00:00".parse::<Timestamp>().unwrap(), midnight);
        assert_eq!("2026-11-15T01:00:00+01:00".parse::<Timestamp>().unwrap(), midnight);
        assert_eq!("20261115T000000Z".parse::<Timestamp>().unwrap(), midnight);
    }

    #[test]
    fn relative_times_count_back_from_now() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        assert_eq!(parse_time("-2h", now).unwrap().to_string(), "2026-11-15T10:00:00Z");
        assert_eq!(parse_time("now", now).unwrap(), now);
        assert!(parse_time("-2 parsecs", now).is_err());
    }

    #[test]
    fn spans_read_back_as_written() {
        for text in ["100ms", "1s", "15s", "1m30s", "1h", "1d", "1d1us"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
        assert!("15".parse::<Span>().is_err());
        assert!("soon".parse::<Span>().is_err());
    }

    #[test]
    fn the_nearest_instant_may_be_the_later_one() {
        let step = Span::from_seconds(15);
        assert_eq!(Timestamp::from_micros(7_499_999).nearest(step), Timestamp::from_seconds(0));
        assert_eq!(Timestamp::from_micros(7_500_000).nearest(step), Timestamp::from_seconds(15));
        assert_eq!(Timestamp::from_seconds(-1).floor(step), Timestamp::from_seconds(-15));
    }

    #[test]
    fn file_name_times_read_back() {
        let t: Timestamp = "2026-11-15T00:00:05Z".parse().unwrap();
        assert_eq!(t.basic(), "20261115T000005Z");
        assert_eq!(Timestamp::from_basic(&t.basic()), Some(t));
        assert_eq!(Timestamp::from_basic("20261115"), None);
    }
}
