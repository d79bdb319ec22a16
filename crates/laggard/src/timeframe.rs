//! The time options: `--from` and `--to`.

use anyhow::bail;
use clap::Args;
use laggard_core::model::time::{Timestamp, parse_time};

use crate::arguments::now;

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Timeframe {
    /// The begin of the time: 2026-11-15T10:00:00Z, 2026-11-15, or -2h.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<String>,
    /// The end of the time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    to: Option<String>,
}

impl Timeframe {
    /// Both ends; unlimited where an option is missing.
    pub(crate) fn ends(&self) -> anyhow::Result<(Timestamp, Timestamp)> {
        let now = now();
        let time = |text: &Option<String>| text.as_deref().map(|t| parse_time(t, now)).transpose();
        let from = time(&self.from)?.unwrap_or(Timestamp::MIN);
        let to = time(&self.to)?.unwrap_or(Timestamp::MAX);
        if from > to {
            bail!("--from {from} is after --to {to}");
        }
        Ok((from, to))
    }
}
