//! The numbers of a paper's method that can be changed: `--set window=128`, and the sweep of `laggard eval`.
//! In: pairs of text. Out: [`PaperSettings`]. Always: a value is in its range; the paper's values are used for all others.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::distances::bins::{BinRule, MOST_BINS};
use super::filter::MOST_NEEDED;
use crate::model::cluster::FEWEST_PEERS;

/// A number that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parameter {
    Smoothing,
    Window,
    Shift,
    K,
    Cushion,
    Bins,
    Partition,
    CwndSmoothing,
}

/// Changed numbers; none: the paper's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct PaperSettings {
    /// Samples of the moving average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smoothing: Option<usize>,
    /// Samples of a window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// Samples from the begin of a window to the begin of the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<usize>,
    /// A component is faulty if it is anomalous in k of 2k - 1 windows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// Learnt thresholds are multiplied by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cushion: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", with = "bins_text")]
    pub bins: Option<BinRule>,
    /// Members of the rotating partitions in which large groups are compared; none: the whole group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<usize>,
    /// Samples of the moving average of `cwnd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwnd_smoothing: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    #[error("expected KEY=VALUE, such as window=64")]
    Pair,
    #[error("there is no setting {key:?}; there are {}", Parameter::ALL.map(Parameter::as_str).join(", "))]
    Key { key: String },
    #[error("{parameter}={value}: expected {}", .parameter.expected())]
    Value { parameter: Parameter, value: String },
    #[error(
        "shift={shift} is longer than window={window}: the samples between two windows would not be compared; \
         set shift to {window} or less"
    )]
    Shift { shift: usize, window: usize },
    #[error("{method} with the measure {measure} has no setting {parameter}: leave it out")]
    Unused { parameter: Parameter, method: &'static str, measure: &'static str },
}

/// Longer windows would be hours even with a sample each second.
const MOST_SAMPLES: usize = 1024;

/// From the highest score of the training data itself, to thresholds that are never exceeded.
const CUSHIONS: RangeInclusive<f64> = 1.0..=100.0;

impl Parameter {
    pub const ALL: [Parameter; 8] = [
        Parameter::Smoothing,
        Parameter::Window,
        Parameter::Shift,
        Parameter::K,
        Parameter::Cushion,
        Parameter::Bins,
        Parameter::Partition,
        Parameter::CwndSmoothing,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Parameter::Smoothing => "smoothing",
            Parameter::Window => "window",
            Parameter::Shift => "shift",
            Parameter::K => "k",
            Parameter::Cushion => "cushion",
            Parameter::Bins => "bins",
            Parameter::Partition => "partition",
            Parameter::CwndSmoothing => "cwnd-smoothing",
        }
    }

    pub fn named(word: &str) -> Option<Parameter> {
        Parameter::ALL.into_iter().find(|parameter| parameter.as_str() == word)
    }

    fn range(self) -> RangeInclusive<usize> {
        match self {
            Parameter::Window => 2..=MOST_SAMPLES,
            Parameter::K => 1..=MOST_NEEDED,
            Parameter::Partition => FEWEST_PEERS..=usize::from(u16::MAX),
            _ => 1..=MOST_SAMPLES,
        }
    }

    fn expected(self) -> String {
        match self {
            Parameter::Cushion => format!("a number from {} to {}", CUSHIONS.start(), CUSHIONS.end()),
            Parameter::Bins => {
                format!("sturges, freedman-diaconis, or a number of bins from 2 to {MOST_BINS}")
            }
            _ => format!("a whole number from {} to {}", self.range().start(), self.range().end()),
        }
    }

    fn whole(self, value: &str) -> Option<usize> {
        value.parse().ok().filter(|number| self.range().contains(number))
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One setting: `window=64`.
impl FromStr for PaperSettings {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<PaperSettings, SettingError> {
        let (key, value) = text.split_once('=').ok_or(SettingError::Pair)?;
        let parameter =
            Parameter::named(key.trim()).ok_or_else(|| SettingError::Key { key: key.trim().to_owned() })?;
        PaperSettings::default().with(parameter, value.trim())
    }
}

impl PaperSettings {
    pub fn with(mut self, parameter: Parameter, value: &str) -> Result<PaperSettings, SettingError> {
        let wrong = || SettingError::Value { parameter, value: value.to_owned() };
        let whole = || parameter.whole(value).map(Some).ok_or_else(wrong);
        match parameter {
            Parameter::Smoothing => self.smoothing = whole()?,
            Parameter::Window => self.window = whole()?,
            Parameter::Shift => self.shift = whole()?,
            Parameter::K => self.k = whole()?,
            Parameter::Partition => self.partition = whole()?,
            Parameter::CwndSmoothing => self.cwnd_smoothing = whole()?,
            Parameter::Bins => self.bins = Some(BinRule::named(value).ok_or_else(wrong)?),
            Parameter::Cushion => {
                let cushion = value.parse().ok().filter(|cushion| CUSHIONS.contains(cushion));
                self.cushion = Some(cushion.ok_or_else(wrong)?);
            }
        }
        Ok(self)
    }

    /// These settings; where there is none, those of the other.
    pub fn or(self, other: PaperSettings) -> PaperSettings {
        PaperSettings {
            smoothing: self.smoothing.or(other.smoothing),
            window: self.window.or(other.window),
            shift: self.shift.or(other.shift),
            k: self.k.or(other.k),
            cushion: self.cushion.or(other.cushion),
            bins: self.bins.or(other.bins),
            partition: self.partition.or(other.partition),
            cwnd_smoothing: self.cwnd_smoothing.or(other.cwnd_smoothing),
        }
    }

    /// The value as text.
    pub fn get(&self, parameter: Parameter) -> Option<String> {
        let text = |number: Option<usize>| number.map(|number| number.to_string());
        match parameter {
            Parameter::Smoothing => text(self.smoothing),
            Parameter::Window => text(self.window),
            Parameter::Shift => text(self.shift),
            Parameter::K => text(self.k),
            Parameter::Cushion => self.cushion.map(|cushion| cushion.to_string()),
            Parameter::Bins => self.bins.map(BinRule::text),
            Parameter::Partition => text(self.partition),
            Parameter::CwndSmoothing => text(self.cwnd_smoothing),
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == PaperSettings::default()
    }

    /// Those of these settings that another one does not share.
    pub fn unlike(&self, other: &PaperSettings) -> PaperSettings {
        fn kept<T: PartialEq>(own: Option<T>, other: Option<T>) -> Option<T> {
            if own == other { None } else { own }
        }
        PaperSettings {
            smoothing: kept(self.smoothing, other.smoothing),
            window: kept(self.window, other.window),
            shift: kept(self.shift, other.shift),
            k: kept(self.k, other.k),
            cushion: kept(self.cushion, other.cushion),
            bins: kept(self.bins, other.bins),
            partition: kept(self.partition, other.partition),
            cwnd_smoothing: kept(self.cwnd_smoothing, other.cwnd_smoothing),
        }
    }

    /// Settings from a file, which a person may have changed.
    pub fn check(&self) -> Result<(), SettingError> {
        self.given()
            .try_for_each(|(parameter, value)| PaperSettings::default().with(parameter, &value).map(|_| ()))
    }

    fn given(&self) -> impl Iterator<Item = (Parameter, String)> {
        Parameter::ALL.into_iter().filter_map(|parameter| Some((parameter, self.get(parameter)?)))
    }
}

/// As on the command line: `window=32, shift=16`.
impl fmt::Display for PaperSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> =
            self.given().map(|(parameter, value)| format!("{parameter}={value}")).collect();
        f.pad(&words.join(", "))
    }
}

/// The rule for bins as in `--set`.
mod bins_text {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::BinRule;

    pub(super) fn serialize<S: Serializer>(bins: &Option<BinRule>, serializer: S) -> Result<S::Ok, S::Error> {
        match bins {
            Some(bins) => serializer.serialize_str(&bins.text()),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<BinRule>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let unknown = || serde::de::Error::custom(format!("{text:?} is not a rule for bins"));
        BinRule::named(&text).map(Some).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<PaperSettings>().unwrap_err().to_string()
    }

    #[test]
    fn settings_are_pairs_and_the_first_of_two_values_is_kept() {
        let settings: PaperSettings = "window=128".parse().unwrap();
        assert_eq!(settings.or("window=32".parse().unwrap()).window, Some(128));
        let both = settings.or(" bins = 12 ".parse().unwrap());
        assert_eq!(both.to_string(), "window=128, bins=12");
    }

    #[test]
    fn a_wrong_setting_is_refused_with_the_expected_values() {
        assert_eq!(error("window"), "expected KEY=VALUE, such as window=64");
        assert!(
            error("windows=3").starts_with("there is no setting \"windows\"; there are smoothing, window,")
        );
        assert_eq!(error("window=1"), "window=1: expected a whole number from 2 to 1024");
        assert_eq!(error("k=33"), "k=33: expected a whole number from 1 to 32");
        assert_eq!(error("cushion=0.5"), "cushion=0.5: expected a number from 1 to 100");
        assert_eq!(error("cushion=NaN"), "cushion=NaN: expected a number from 1 to 100");
        let expected = "expected sturges, freedman-diaconis, or a number of bins from 2 to 1000";
        assert_eq!(error("bins=1"), format!("bins=1: {expected}"));
    }

    #[test]
    fn a_file_has_only_what_was_changed() {
        let settings: PaperSettings = "bins=freedman-diaconis".parse().unwrap();
        let settings = settings.or("cwnd-smoothing=9".parse().unwrap());
        let text = toml::to_string(&settings).unwrap();
        assert_eq!(text, "bins = \"freedman-diaconis\"\ncwnd-smoothing = 9\n");
        assert_eq!(toml::from_str::<PaperSettings>(&text).unwrap(), settings);
        assert!(toml::from_str::<PaperSettings>("").unwrap().is_empty());
        let beyond = toml::from_str::<PaperSettings>("k = 99").unwrap().check();
        assert_eq!(beyond.unwrap_err().to_string(), "k=99: expected a whole number from 1 to 32");
    }
}
