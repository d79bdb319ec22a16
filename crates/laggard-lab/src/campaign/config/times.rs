//! Lengths of time.

use std::time::Duration;

use laggard_core::model::time::Span;
use serde::de::{Deserialize, Deserializer, Visitor};

/// A length of time as a file has it: `10s`, `5m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Time, D::Error> {
        from.deserialize_str(Words)
    }
}

/// Says what is expected, where a number alone is written.
struct Words;

impl Visitor<'_> for Words {
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
            text.parse().map_err(|_| format!("{text:?} is no length of time: write it like 10s or 5m"))?;
        u64::try_from(span.micros())
            .map(|micros| Time(Duration::from_micros(micros)))
            .map_err(|_| format!("{text:?}: time does not run backwards"))
    }
}

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// To build a lab.
    pub setup: Duration,
    /// A whole cell; then it is healed and given up.
    pub cell: Duration,
    /// From the request to end to the kill.
    pub term_grace: Duration,
    /// From the kill until something counts as stuck.
    pub kill_grace: Duration,
    /// The healing of a fault, and the file system's own repair.
    pub heal: Duration,
    /// Until a healed file system is well.
    pub healthy: Duration,
    /// To mount.
    pub mount: Duration,
}
