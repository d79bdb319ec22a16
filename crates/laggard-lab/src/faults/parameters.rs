//! The parameters of a fault, as they were given.

use std::collections::BTreeMap;

use crate::machine::LabError;

/// Parameters that no fault has taken yet.
pub(crate) struct Parameters {
    fault: &'static str,
    left: BTreeMap<String, String>,
}

impl Parameters {
    pub(super) fn new(fault: &'static str, given: &BTreeMap<String, String>) -> Parameters {
        Parameters { fault, left: given.clone() }
    }

    /// A parameter that the fault does not have.
    pub(super) fn unknown(&self) -> Option<&String> {
        self.left.keys().next()
    }

    pub(super) fn take(&mut self, key: &str) -> Option<String> {
        self.left.remove(key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.left.contains_key(key)
    }

    /// One of the words that a type is serialized as.
    pub(super) fn word<T: serde::de::DeserializeOwned>(
        &mut self,
        key: &str,
        default: &str,
    ) -> Result<T, LabError> {
        let word = self.take(key).unwrap_or_else(|| default.to_owned());
        serde_json::from_value(serde_json::Value::String(word)).map_err(|error| self.wrong(key, error))
    }

    pub(super) fn flag(&mut self, key: &str, default: bool) -> Result<bool, LabError> {
        let Some(word) = self.take(key) else { return Ok(default) };
        word.parse().map_err(|error| self.wrong(key, error))
    }

    pub(super) fn number(
        &mut self,
        key: &str,
        bounds: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, LabError> {
        let Some(word) = self.take(key) else { return Ok(None) };
        let (least, most) = (bounds.start(), bounds.end());
        let found = word.parse().ok().filter(|number| bounds.contains(number));
        let wrong = || self.wrong(key, format!("{word:?} is not a whole number from {least} to {most}"));
        found.map(Some).ok_or_else(wrong)
    }

    pub(super) fn percent(&mut self, key: &str, default: u32) -> Result<u32, LabError> {
        let percent = self.number(key, 0..=100)?;
        Ok(percent.map_or(default, |percent| percent as u32))
    }

    pub(super) fn size(&mut self, key: &str, default: u64) -> Result<u64, LabError> {
        let Some(word) = self.take(key) else { return Ok(default) };
        let (number, shift) = match word.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']) {
            Some(number) if word.ends_with(['k', 'K']) => (number, 10),
            Some(number) if word.ends_with(['m', 'M']) => (number, 20),
            Some(number) => (number, 30),
            None => (word.as_str(), 0),
        };
        let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
        bytes
            .ok_or_else(|| self.wrong(key, format!("{word:?} is not a size: write it like 4096, 64K or 16M")))
    }

    pub(super) fn list(&mut self, key: &str) -> Vec<String> {
        let words = self.take(key).unwrap_or_default();
        words.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    pub(super) fn wrong(&self, key: &str, why: impl std::fmt::Display) -> LabError {
        LabError::Input(format!("{}, parameter {key}: {why}", self.fault))
    }
}
