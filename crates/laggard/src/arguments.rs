//! Parsers of arguments.

use globset::{Glob, GlobMatcher};
use laggard_core::model::metric::Metric;
use laggard_core::model::time::{Span, Timestamp};

pub(crate) fn metric(name: &str) -> Result<&'static Metric, String> {
    Metric::named(name).ok_or_else(|| format!("not a metric; there are {}", Metric::names()))
}

/// A pattern as in a shell.
pub(crate) fn glob(text: &str) -> Result<GlobMatcher, String> {
    Glob::new(text).map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
}

pub(crate) fn positive_span(text: &str) -> Result<Span, String> {
    match text.parse::<Span>() {
        Ok(span) if span > Span::ZERO => Ok(span),
        Ok(_) => Err("must be longer than 0".into()),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn now() -> Timestamp {
    jiff::Timestamp::now().into()
}

/// `20GiB`, `500MB`, `1000000`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a size: write it like 20GiB, 500MB or 1000000");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().map_err(|_| wrong())?;
    let unit = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "kb" => 1e3,
        "m" | "mib" => 1024.0 * 1024.0,
        "mb" => 1e6,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "gb" => 1e9,
        "t" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "tb" => 1e12,
        _ => return Err(wrong()),
    };
    Ok((number * unit) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("20GiB"), Ok(20 << 30));
        assert_eq!(size("1.5k"), Ok(1536));
        assert_eq!(size("500MB"), Ok(500_000_000));
        assert_eq!(size("7"), Ok(7));
        assert!(size("much").is_err() && size("5 stones").is_err());
    }
}
