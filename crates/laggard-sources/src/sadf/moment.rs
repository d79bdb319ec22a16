//! The time of a sample, a restart or a comment, as sadf states it.

use laggard_core::model::time::{Span, Timestamp};
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Moment {
    /// `2026-11-15`.
    pub(super) date: String,
    /// `19:48:43`.
    pub(super) time: String,
    /// 1 if the time is UTC.
    pub(super) utc: Option<f64>,
    /// The name of the time zone, in the newest versions.
    pub(super) tz: Option<String>,
    /// Seconds since the previous sample.
    pub(super) interval: Option<f64>,
    pub(super) com: Option<String>,
    /// The number of processors after a restart.
    pub(super) cpu_count: Option<f64>,
}

impl Moment {
    pub(super) fn set(&mut self, name: &str, text: &str) {
        match name {
            "date" => self.date = text.into(),
            "time" => self.time = text.into(),
            "utc" => self.utc = text.parse().ok(),
            "tz" => self.tz = Some(text.into()),
            "interval" => self.interval = text.parse().ok(),
            "com" => self.com = Some(text.into()),
            "cpu_count" => self.cpu_count = text.parse().ok(),
            _ => {}
        }
    }

    /// The instant, and true if it is known to be UTC.
    pub(super) fn instant(&self) -> Option<(Timestamp, bool)> {
        let is_utc = self.utc == Some(1.0) || matches!(self.tz.as_deref(), Some("UTC" | "GMT"));
        if let Ok(seconds) = self.time.parse() {
            return Some((Timestamp::from_seconds(seconds), true));
        }
        Some((format!("{} {}", self.date, self.time).parse().ok()?, is_utc))
    }

    pub(super) fn every(&self) -> Option<Span> {
        self.interval.filter(|&seconds| (1.0..1e9).contains(&seconds)).map(|s| Span::from_seconds(s as i64))
    }
}
