//! Numbers as people read them: three digits that matter, a unit with a prefix, a span in two units.

use crate::model::time::{Span, Timestamp};

/// A unit with its prefix, and how many of the plain unit make one of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// Divide by this.
    pub factor: f64,
    /// The text right after the number, including a blank if there is one.
    pub suffix: String,
}

const PREFIXES: [(f64, &str); 6] = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
const MILLISECONDS: [(f64, &str); 3] = [(1e3, " s"), (1.0, " ms"), (1e-3, " µs")];

/// The prefix that suits a value of that size.
pub fn scaling(value: f64, unit: &str) -> Scaling {
    let size = value.abs();
    match unit {
        "ms" => {
            let (factor, suffix) = fitting(&MILLISECONDS, if size == 0.0 { 1.0 } else { size });
            Scaling { factor, suffix: suffix.into() }
        }
        "%" => Scaling { factor: 1.0, suffix: " %".into() },
        "B/s" | "B" => prefixed(size, |prefix| format!(" {prefix}{unit}")),
        "/s" | "" => prefixed(size, |prefix| format!("{prefix}{unit}")),
        _ => prefixed(size, |prefix| format!("{prefix} {unit}")),
    }
}

fn prefixed(size: f64, suffix: impl Fn(&str) -> String) -> Scaling {
    let (factor, prefix) = fitting(&PREFIXES, size);
    Scaling { factor, suffix: suffix(prefix) }
}

/// The largest scale that leaves at least 1 after rounding, or the smallest one.
fn fitting(scales: &[(f64, &'static str)], size: f64) -> (f64, &'static str) {
    let fits = |&&(factor, _): &&(f64, &str)| size >= 0.9995 * factor;
    *scales.iter().find(fits).unwrap_or(&scales[scales.len() - 1])
}

/// `41.2 ms`, `1.20 GB/s`, `24.0k sectors/s`; `-` for what is missing.
pub fn quantity(value: Option<f64>, unit: &str) -> String {
    match value.filter(|v| !v.is_nan()) {
        None => "-".into(),
        Some(value) => {
            let Scaling { factor, suffix } = scaling(value, unit);
            significant(value / factor) + &suffix
        }
    }
}

/// Three digits that matter: `0.0123`, `4.10`, `41.2`, `412`, `4120`.
pub fn significant(value: f64) -> String {
    if value.is_nan() {
        return "-".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞".into() } else { "-∞".into() };
    }
    if value == 0.0 {
        return "0".into();
    }
    match exponent(value) {
        far @ (..=-5 | 6..) => format!("{:.2}e{far}", value / 10f64.powi(far)),
        near => format!("{value:.*}", (2 - near).max(0) as usize),
    }
}

/// The power of ten of the first digit, after rounding to three.
fn exponent(value: f64) -> i32 {
    let written = format!("{value:.2e}");
    written.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0)
}

/// The same without the zeros at its end, as for the marks of an axis: `4.1`, `40`.
pub fn trimmed(value: f64) -> String {
    let text = significant(value);
    if !text.contains('.') || text.contains('e') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// How many times: `4.1x`, `12x`, `0.25x`.
pub fn ratio(value: f64) -> String {
    format!("{}x", times(value))
}

/// The number alone: `4.1`, `12`, `0.25`; never more than four digits.
pub fn times(value: f64) -> String {
    match value {
        v if !v.is_finite() => significant(v),
        v if v >= 9999.5 => "over 9999".into(),
        v if v >= 9.95 => format!("{v:.0}"),
        v if v >= 0.95 => format!("{v:.1}"),
        v if v >= 0.01 => format!("{v:.2}"),
        v if v > 0.0 => "under 0.01".into(),
        _ => "0".into(),
    }
}

/// A share from 0 to 1 in hundredths: `82 %`.
pub fn percent(share: f64) -> String {
    if share.is_nan() { "-".into() } else { format!("{:.0} %", 100.0 * share.clamp(0.0, 1.0)) }
}

const SPANS: [(i64, &str); 6] = [
    (86_400_000_000, "d"),
    (3_600_000_000, "h"),
    (60_000_000, "min"),
    (1_000_000, "s"),
    (1000, "ms"),
    (1, "µs"),
];

/// The two largest units, the rest cut off: `2 h 10 min`, `45 s`.
pub fn span(span: Span) -> String {
    let micros = span.micros().saturating_abs();
    let Some(first) = SPANS.iter().position(|(unit, _)| micros >= *unit) else { return "0 s".into() };
    let (unit, name) = SPANS[first];
    let sign = if span < Span::ZERO { "-" } else { "" };
    let mut text = format!("{sign}{} {name}", micros / unit);
    if let Some((smaller, name)) = SPANS.get(first + 1).filter(|(smaller, _)| micros % unit >= *smaller) {
        text += &format!(" {} {name}", micros % unit / smaller);
    }
    text
}

/// An instant to the second: `2026-11-15T10:20:00Z`.
pub fn instant(time: Timestamp) -> String {
    time.floor(Span::SECOND).to_string()
}

/// The same with a blank in place of the T, for pages: `2026-11-15 10:20:00 UTC`.
pub fn spaced_instant(time: Timestamp) -> String {
    let text = instant(time);
    match text.strip_suffix('Z') {
        Some(text) => text.replacen('T', " ", 1) + " UTC",
        None => text,
    }
}

/// `1 suspect`, `2 suspects`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_matter() {
        let cases = [(0.012345, "0.0123"), (4.1, "4.10"), (41.25, "41.2"), (99.96, "100"), (4123.0, "4123")];
        for (value, text) in cases {
            assert_eq!(significant(value), text);
        }
        assert_eq!(significant(-1.5e9), "-1.50e9");
        assert_eq!(significant(f64::NAN), "-");
        assert_eq!(significant(f64::MIN_POSITIVE), "2.23e-308");
    }

    #[test]
    fn prefixes_keep_numbers_short() {
        assert_eq!(quantity(Some(41.23), "ms"), "41.2 ms");
        assert_eq!(quantity(Some(0.25), "ms"), "250 µs");
        assert_eq!(quantity(Some(4123.0), "ms"), "4.12 s");
        assert_eq!(quantity(Some(1.2e9), "B/s"), "1.20 GB/s");
        assert_eq!(quantity(Some(999_999.0), "B/s"), "1.00 MB/s");
        assert_eq!(quantity(Some(24_000.0), "sectors/s"), "24.0k sectors/s");
        assert_eq!(quantity(Some(812.0), "/s"), "812/s");
        assert_eq!(quantity(Some(98.21), "%"), "98.2 %");
        assert_eq!(quantity(Some(0.0), "ms"), "0 ms");
        assert_eq!(quantity(None, "ms"), "-");
    }

    #[test]
    fn marks_of_an_axis_have_no_idle_zeros() {
        assert_eq!(trimmed(4.1), "4.1");
        assert_eq!(trimmed(40.0), "40");
        assert_eq!(trimmed(100.0), "100");
    }

    #[test]
    fn ratios_have_few_digits() {
        assert_eq!(ratio(4.1), "4.1x");
        assert_eq!(ratio(12.34), "12x");
        assert_eq!(ratio(0.25), "0.25x");
        assert_eq!(ratio(1e7), "over 9999x");
    }

    #[test]
    fn spans_are_shown_in_two_units() {
        let cases =
            [(7800, "2 h 10 min"), (45, "45 s"), (86_400, "1 d"), (-90, "-1 min 30 s"), (3601, "1 h")];
        for (seconds, text) in cases {
            assert_eq!(span(Span::from_seconds(seconds)), text);
        }
        assert_eq!(span(Span::ZERO), "0 s");
        assert_eq!(span(Span::from_micros(i64::MIN)), "-106751991 d 4 h");
    }

    #[test]
    fn instants_are_shown_to_the_second() {
        let time = Timestamp::from_micros(1_763_202_000_900_000);
        assert_eq!(instant(time), "2025-11-15T10:20:00Z");
        assert_eq!(spaced_instant(time), "2025-11-15 10:20:00 UTC");
    }
}
