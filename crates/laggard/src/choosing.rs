//! Which method looks, and how: the options that `diagnose`, `train`, `rank` and `eval` share.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use laggard_core::methods::Method;
use laggard_core::methods::laggard::{Laggard, Settings};
use laggard_core::methods::papers::distances::Measure;
use laggard_core::methods::papers::production::Intrepid;
use laggard_core::methods::papers::published::{Paper, Published};
use laggard_core::methods::papers::testbench::Fast10;
use laggard_core::methods::papers::thresholds::Thresholds;
use laggard_core::model::component::Kind;
use laggard_core::model::metric::{Metric, MetricId};
use laggard_core::model::time::Span;

use crate::arguments::{metric, positive_span};

/// How to look for the odd one out.
#[derive(Args, Clone, Debug, Default)]
pub struct Choice {
    /// The method: laggard needs no training; production and testbench are those of the papers.
    #[arg(long, value_enum, default_value_t)]
    pub method: Word,
    #[command(flatten)]
    pub details: Details,
    /// What `laggard train` has learnt, for production and testbench.
    #[arg(long, value_name = "FILE")]
    pub thresholds: Option<PathBuf>,
    /// How long the windows of the method laggard are, such as 5m,15m,1h,1d.
    #[arg(long, value_name = "SPANS", value_delimiter = ',', value_parser = positive_span)]
    pub windows: Vec<Span>,
}

/// A method's word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Word {
    /// Log ratio to the peers' median, over windows from a minute to a day.
    #[default]
    Laggard,
    /// Intrepid in production: cumulative histograms over 15 minutes, every 15 s.
    Production,
    /// FAST '10 test bench: histograms over 64 s, every second.
    Testbench,
}

/// A measure, by its word.
pub fn measure(word: &str) -> Result<Measure, String> {
    Measure::named(word).ok_or_else(|| "one of cdf, kl, median, thresh".into())
}

/// What can be chosen about the methods of the papers.
#[derive(Args, Clone, Debug, Default)]
pub struct Details {
    /// How production and testbench compare two components. Default: the method's own.
    #[arg(long, value_name = "MEASURE", value_parser = measure)]
    pub measure: Option<Measure>,
    /// Look at these metrics only. Default: the method's own.
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    pub metric: Vec<&'static Metric>,
    /// The distance of samples for production and testbench, whose windows are so many samples long. Default: the
    /// paper's, 15s and 1s.
    #[arg(long, value_name = "SPAN", value_parser = positive_span)]
    pub step: Option<Span>,
}

impl Details {
    /// The method of a paper, as it is wanted.
    pub fn published<P: Paper>(&self) -> Published<P> {
        let mut method = Published::default();
        if let Some(measure) = self.measure {
            method = method.with_measure(measure);
        }
        if !self.metric.is_empty() {
            method = method.with_metrics(self.metric.clone());
        }
        method.step = self.step.unwrap_or(method.step);
        method
    }
}

impl Choice {
    /// The method, for a recording of that length. With exact scores where they will be told.
    pub fn method(&self, span: Span, is_exact: bool) -> anyhow::Result<Box<dyn Method>> {
        self.check()?;
        let thresholds = self.thresholds()?;
        Ok(match self.method {
            Word::Laggard => Box::new(self.laggard(span)),
            Word::Production => Box::new(self.published::<Intrepid>(thresholds, is_exact)?),
            Word::Testbench => Box::new(self.published::<Fast10>(thresholds, is_exact)?),
        })
    }

    fn published<P: Paper>(
        &self,
        thresholds: Option<Thresholds>,
        is_exact: bool,
    ) -> anyhow::Result<Published<P>> {
        let mut method = self.details.published();
        if let Some(thresholds) = thresholds {
            method = Published::with_thresholds(method, thresholds)?;
        }
        Ok(if is_exact { method.with_exact_scores() } else { method })
    }

    /// An option that would be left unused is a misunderstanding.
    fn check(&self) -> anyhow::Result<()> {
        let is_laggard = self.method == Word::Laggard;
        match () {
            () if is_laggard && self.thresholds.is_some() => {
                bail!(
                    "the method laggard takes no --thresholds: leave them out, or add --method production or testbench"
                )
            }
            () if is_laggard && self.details.step.is_some() => {
                bail!(
                    "the method laggard has no --step: leave it out, or add --method production or testbench"
                )
            }
            () if is_laggard && self.details.measure.is_some() => {
                bail!(
                    "the method laggard has no --measure: leave it out, or add --method production or testbench"
                )
            }
            () if !is_laggard && !self.windows.is_empty() => {
                bail!("--windows is for the method laggard: those of the others are the papers'")
            }
            () if is_laggard => self.check_metrics().and_then(|()| check_windows(&self.laggard(Span::ZERO))),
            () => Ok(()),
        }
    }

    /// The methods of the papers look at any metric; the method laggard has its own.
    fn check_metrics(&self) -> anyhow::Result<()> {
        let kinds = [Kind::ATTACHMENT, Kind::NIC, Kind::LINK, Kind::SERVER, Kind::CLIENT];
        let watched: BTreeSet<MetricId> =
            kinds.iter().flat_map(|kind| Laggard::default().metrics(kind)).map(|metric| metric.id).collect();
        match self.details.metric.iter().find(|metric| !watched.contains(&metric.id)) {
            None => Ok(()),
            Some(unwatched) => bail!(
                "the method laggard does not look at {}, but at {}; production and testbench look at any",
                unwatched.name,
                watched.into_iter().map(MetricId::name).collect::<Vec<_>>().join(", ")
            ),
        }
    }

    fn laggard(&self, span: Span) -> Laggard {
        let mut settings = Settings { span: Some(span), ..Settings::default() };
        if !self.windows.is_empty() {
            settings = settings.with_lengths(self.windows.clone());
        }
        Laggard { settings, only: self.details.metric.clone() }
    }

    /// Of some metrics: those that were not trained, where others were.
    pub fn lacking(&self, metrics: &[&'static Metric]) -> anyhow::Result<Vec<&'static str>> {
        let Some(thresholds) = self.thresholds()? else { return Ok(Vec::new()) };
        let ids: BTreeSet<MetricId> = metrics.iter().map(|metric| metric.id).collect();
        Ok(ids.into_iter().filter(|id| !thresholds.has(*id)).map(MetricId::name).collect())
    }

    fn thresholds(&self) -> anyhow::Result<Option<Thresholds>> {
        self.thresholds.as_deref().map(thresholds).transpose()
    }

    /// The method's word.
    pub fn name(&self) -> String {
        self.method.to_possible_value().map_or_else(String::new, |word| word.get_name().to_owned())
    }

    /// Whether the method should have been trained and was not.
    pub fn is_untrained(&self) -> bool {
        self.method != Word::Laggard && self.thresholds.is_none()
    }
}

/// Long windows are put together from short ones.
pub fn check_windows(laggard: &Laggard) -> anyhow::Result<()> {
    match laggard.settings.unfit() {
        Some(unfit) => bail!(
            "--windows: {unfit} does not go with the others: give whole parts of five minutes, or of the shortest length if \
             that is longer, and multiples of it"
        ),
        None => Ok(()),
    }
}

/// Reads what `laggard train` has written.
pub fn thresholds(file: &Path) -> anyhow::Result<Thresholds> {
    let named = || file.display().to_string();
    Thresholds::from_toml(&std::fs::read_to_string(file).with_context(named)?).with_context(named)
}
