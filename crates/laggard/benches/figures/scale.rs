//! The scale of the measurements.

use std::fmt;

use anyhow::Context;

/// A share of the full measurement.
#[derive(Clone, Copy)]
pub(crate) struct Scale(f64);

const VARIABLE: &str = "LAGGARD_FIGURES_SCALE";

impl Scale {
    /// The full measurement, unless the environment variable is set.
    pub(crate) fn from_environment() -> anyhow::Result<Scale> {
        let Ok(text) = std::env::var(VARIABLE) else { return Ok(Scale(1.0)) };
        let scale: f64 = text.parse().with_context(|| format!("{VARIABLE}={text}: expected a number"))?;
        anyhow::ensure!(scale > 0.0 && scale <= 1.0, "{VARIABLE}={text}: expected more than 0, at most 1");
        Ok(Scale(scale))
    }

    /// This share of `whole`, at least `least`.
    pub(crate) fn of(self, whole: u64, least: u64) -> u64 {
        ((whole as f64 * self.0) as u64).max(least)
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1.0 => write!(f, "scale: full"),
            part => write!(f, "scale: {part} ({VARIABLE}): not for publication"),
        }
    }
}
