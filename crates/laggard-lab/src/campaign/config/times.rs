//! Lengths of time in the campaign file.

use std::time::Duration;

use laggard_core::model::time::Span;
use serde::de::{Deserialize, Deserializer, Visitor};

/// `10s`, `5m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time(pub Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        from.deserialize_str(TimeVisitor)
    }
}

struct TimeVisitor;

impl Visitor<'_> for TimeVisitor {
    type Value = Time;

    fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("a length of time, like \"10s\" or \"5m\"")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Time, E> {
        Time::try_from(text.to_owned()).map_err(E::custom)
    }
}

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Time, String> {
        let span: Span =
            text.parse().map_err(|_| format!("{text:?} is not a length of time: write it like 10s or 5m"))?;
        u64::try_from(span.micros())
            .map(|micros| Time(Duration::from_micros(micros)))
            .map_err(|_| format!("{text:?}: a length of time cannot be negative"))
    }
}
