//! Settings of a scenario: `key=value`, each checked once.
//! In: pairs of text. Out: values. Always: an unknown key is an error, and so is a wrong value; both say
//! what would be right.

use std::str::FromStr;

use laggard_core::model::time::{Span, Timestamp};

/// A key and its value, as typed.
pub type Pair = (String, String);

/// A scenario or a setting that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    #[error(
        "there is no scenario {0:?}: take one of testbench, intrepid-day, intrepid-study, scale, fleet, overlay"
    )]
    Scenario(String),
    #[error("{scenario} has no setting {key:?}: it has {valid}")]
    Key { scenario: &'static str, key: String, valid: String },
    #[error("{key}={value}: expected {expected}")]
    Value { key: String, value: String, expected: String },
    /// Not `key=value`.
    #[error("{0:?}: expected key=value, such as seconds=600")]
    Pair(String),
}

/// Splits `key=value`.
pub fn pair(text: &str) -> Result<Pair, SettingError> {
    let (key, value) = text.split_once('=').ok_or_else(|| SettingError::Pair(text.into()))?;
    Ok((key.trim().into(), value.trim().into()))
}

/// The settings of one scenario. The last of two values of a key holds.
pub struct Settings<'a> {
    pairs: &'a [Pair],
}

impl<'a> Settings<'a> {
    pub fn new(
        scenario: &'static str,
        valid: &[&str],
        pairs: &'a [Pair],
    ) -> Result<Settings<'a>, SettingError> {
        let unknown = pairs.iter().map(|(key, _)| key).find(|key| !valid.contains(&key.as_str()));
        match unknown {
            Some(key) => Err(SettingError::Key { scenario, key: key.clone(), valid: valid.join(", ") }),
            None => Ok(Settings { pairs }),
        }
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.pairs.iter().rev().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// A whole number of a range.
    pub fn number(&self, key: &str, default: u64, least: u64, most: u64) -> Result<u64, SettingError> {
        let Some(text) = self.text(key) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| wrong(key, text, format!("a whole number from {least} to {most}")))
    }

    /// A number of a range.
    pub fn decimal(&self, key: &str, default: f64, least: f64, most: f64) -> Result<f64, SettingError> {
        let Some(text) = self.text(key) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| wrong(key, text, format!("a number from {least} to {most}")))
    }

    pub fn choice<T: Copy>(&self, key: &str, default: T, valid: &[(&str, T)]) -> Result<T, SettingError> {
        let Some(text) = self.text(key) else { return Ok(default) };
        let found = valid.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        let words = || valid.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        found.ok_or_else(|| wrong(key, text, format!("one of {}", words())))
    }

    pub fn yes(&self, key: &str, default: bool) -> Result<bool, SettingError> {
        self.choice(key, default, &[("yes", true), ("no", false)])
    }

    /// A length of time of a range.
    pub fn span(&self, key: &str, default: Span, least: Span, most: Span) -> Result<Span, SettingError> {
        let Some(text) = self.text(key) else { return Ok(default) };
        let span = Span::from_str(text).ok().filter(|span| (least..=most).contains(span));
        span.ok_or_else(|| wrong(key, text, format!("a length of time from {least} to {most}, such as 15s")))
    }

    /// The sampling interval of a production system: a divisor of a day.
    pub fn interval(&self, key: &str, default: Span) -> Result<Span, SettingError> {
        let span = self.span(key, default, Span::SECOND, Span::from_seconds(60))?;
        match INTERVALS.contains(&span) {
            true => Ok(span),
            false => Err(wrong(key, &span.to_string(), "one of 1s, 5s, 15s, 60s".into())),
        }
    }

    pub fn time(&self, key: &str, default: Timestamp) -> Result<Timestamp, SettingError> {
        let Some(text) = self.text(key) else { return Ok(default) };
        let time = Timestamp::from_str(text).ok().filter(|time| (EARLIEST..LATEST).contains(time));
        time.ok_or_else(|| wrong(key, text, "a time such as 2026-11-15T12:00:00Z".into()))
    }
}

const INTERVALS: [Span; 4] =
    [Span::SECOND, Span::from_seconds(5), Span::from_seconds(15), Span::from_seconds(60)];

/// The range of dates that file names and calendars support.
const EARLIEST: Timestamp = Timestamp::from_seconds(0);
const LATEST: Timestamp = Timestamp::from_seconds(100 * 366 * 86_400);

pub fn wrong(key: &str, value: &str, expected: String) -> SettingError {
    SettingError::Value { key: key.into(), value: value.into(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_told_with_the_known_ones() {
        let error =
            Settings::new("scale", &["samples", "every"], &[pair("sample=3").unwrap()]).err().unwrap();
        assert_eq!(error.to_string(), r#"scale has no setting "sample": it has samples, every"#);
    }

    #[test]
    fn a_wrong_value_is_told_with_what_would_be_right() {
        let pairs = [pair("samples=0").unwrap(), pair("every=fast").unwrap()];
        let settings = Settings::new("scale", &["samples", "every"], &pairs).unwrap();
        let error = settings.number("samples", 5, 1, 9).unwrap_err().to_string();
        assert_eq!(error, "samples=0: expected a whole number from 1 to 9");
        let error = settings.span("every", Span::SECOND, Span::SECOND, Span::DAY).unwrap_err().to_string();
        assert_eq!(error, "every=fast: expected a length of time from 1s to 1d, such as 15s");
    }

    #[test]
    fn words_without_a_sign_are_no_setting() {
        assert_eq!(
            pair("fault").unwrap_err().to_string(),
            r#""fault": expected key=value, such as seconds=600"#
        );
    }
}
