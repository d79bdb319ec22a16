//! The options that choose a method: `diagnose`, `train` and `rank` share them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use laggard_core::methods::choice::{MethodChoice, MethodName, PaperOptions, Trained};
use laggard_core::methods::papers::distances::Measure;
use laggard_core::methods::papers::settings::{PaperSettings, SettingError};
use laggard_core::model::metric::Metric;
use laggard_core::model::time::Span;

use crate::arguments::{metric, positive_span};

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct MethodOptions {
    /// The method: laggard needs no training, but can use one; production and testbench are those of the papers.
    #[arg(long, value_enum, default_value_t)]
    method: MethodWord,
    #[command(flatten)]
    details: Details,
    /// The file of `laggard train`, for this method: thresholds for production and testbench, usual ratios for laggard.
    #[arg(long, value_name = "FILE")]
    thresholds: Option<PathBuf>,
    /// Window lengths of the method laggard, such as 5m,15m,1h,1d.
    #[arg(long, value_name = "SPANS", value_delimiter = ',', value_parser = positive_span)]
    windows: Vec<Span>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum MethodWord {
    /// Log ratio to the peers' median, over windows from a minute to a day.
    #[default]
    Laggard,
    /// Intrepid in production: cumulative histograms over 15 minutes, every 15 s.
    Production,
    /// FAST '10 test bench: histograms over 64 s, every second.
    Testbench,
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Details {
    /// How production and testbench compare two components. Default: the method's own.
    #[arg(long, value_name = "MEASURE", value_parser = measure)]
    measure: Option<Measure>,
    /// Compare only these metrics. Default: the method's own.
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    metric: Vec<&'static Metric>,
    /// The interval between samples for production and testbench, whose windows have a fixed number of samples.
    /// Default: the paper's, 15s and 1s.
    #[arg(long, value_name = "SPAN", value_parser = positive_span)]
    step: Option<Span>,
    /// Change a number of production or testbench: smoothing, window, shift, k, cushion, bins, partition or
    /// cwnd-smoothing; can be repeated. Default: the paper's, see docs/methods.md.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = paper_setting)]
    settings: Vec<PaperSettings>,
}

/// One setting of production or testbench.
pub(crate) fn paper_setting(text: &str) -> Result<PaperSettings, String> {
    text.parse().map_err(|error: SettingError| error.to_string())
}

/// The last of two values of a setting is used.
pub(crate) fn all_settings(settings: &[PaperSettings]) -> PaperSettings {
    settings.iter().fold(PaperSettings::default(), |all, one| one.or(all))
}

fn measure(name: &str) -> Result<Measure, String> {
    Measure::named(name).ok_or_else(|| "one of cdf, kl, median, thresh".into())
}

fn trained(file: &Path) -> anyhow::Result<Trained> {
    let named = || file.display().to_string();
    Trained::from_toml(&std::fs::read_to_string(file).with_context(named)?).with_context(named)
}

impl Details {
    pub(crate) fn parsed(&self) -> PaperOptions {
        PaperOptions {
            measure: self.measure,
            metrics: self.metric.clone(),
            step: self.step,
            settings: all_settings(&self.settings),
        }
    }
}

impl MethodOptions {
    pub(crate) fn parsed(&self) -> anyhow::Result<MethodChoice> {
        Ok(MethodChoice {
            name: self.name(),
            details: self.details.parsed(),
            trained: self.thresholds.as_deref().map(trained).transpose()?,
            windows: self.windows.clone(),
        })
    }

    pub(crate) fn name(&self) -> MethodName {
        match self.method {
            MethodWord::Laggard => MethodName::Laggard,
            MethodWord::Production => MethodName::Production,
            MethodWord::Testbench => MethodName::Testbench,
        }
    }
}
