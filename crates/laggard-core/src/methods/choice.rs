//! The choice of a method and of its options.
//! In: options as a user gives them. Out: a [`Method`]. Always: an option that the method would not use is refused.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Method;
use super::laggard::{Laggard, Settings};
use super::papers::production::Intrepid;
use super::papers::published::{Paper, Published};
use super::papers::settings::{PaperSettings, SettingError};
use super::papers::testbench::Fast10;
use super::usual_ratios::{self, UsualRatios, UsualRatiosError};
use crate::methods::papers::distances::Measure;
use crate::methods::papers::thresholds::{Thresholds, ThresholdsError};
use crate::model::component::Kind;
use crate::model::metric::{Metric, MetricId};
use crate::model::time::Span;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MethodName {
    #[default]
    Laggard,
    Production,
    Testbench,
}

/// The options that methods share.
#[derive(Clone, Debug, Default)]
pub struct MethodChoice {
    pub name: MethodName,
    pub details: PaperOptions,
    pub trained: Option<Trained>,
    /// Window lengths of the method laggard; empty: its own.
    pub windows: Vec<Span>,
}

/// The result of a training.
#[derive(Clone, Debug)]
pub enum Trained {
    Thresholds(Box<Thresholds>),
    UsualRatios(Arc<UsualRatios>),
}

/// Options of the papers' methods; empty: as in the paper.
#[derive(Clone, Debug, Default)]
pub struct PaperOptions {
    pub measure: Option<Measure>,
    pub metrics: Vec<&'static Metric>,
    pub step: Option<Span>,
    pub settings: PaperSettings,
}

#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    #[error("the method laggard has no {0}: leave it out, or add --method production or testbench")]
    NotForLaggard(&'static str),
    #[error("--windows is for the method laggard: the other methods use the papers' windows")]
    OnlyForLaggard,
    #[error(
        "the method laggard does not compare {metric}, but {}; production and testbench compare any metric",
        .compared.join(", ")
    )]
    Metric { metric: &'static str, compared: Vec<&'static str> },
    #[error(
        "--windows: {0} does not fit the others: give divisors of five minutes, or of the shortest length if that is \
         longer, and multiples of it"
    )]
    Window(Span),
    #[error("--set: {0}")]
    Setting(#[from] SettingError),
    #[error(transparent)]
    Thresholds(#[from] ThresholdsError),
    #[error(transparent)]
    UsualRatios(#[from] UsualRatiosError),
    #[error(
        "the file is for the method {trained}, not for {asked}: train for this method (`laggard train --method {asked}`), or \
         select that of the file with --method"
    )]
    OtherMethod { trained: String, asked: &'static str },
}

impl Trained {
    /// Reads a file of `laggard train`.
    pub fn from_toml(text: &str) -> Result<Trained, ChoiceError> {
        let table: Option<toml::Table> = text.parse().ok();
        let schema = table.as_ref().and_then(|table| table.get("schema")?.as_str()).unwrap_or_default();
        let name = |schema: &str| schema.split('/').next().unwrap_or_default().to_owned();
        if name(schema) == name(usual_ratios::SCHEMA) {
            Ok(Trained::UsualRatios(UsualRatios::from_toml(text)?.into()))
        } else {
            Ok(Trained::Thresholds(Thresholds::from_toml(text)?.into()))
        }
    }

    fn method(&self) -> &str {
        match self {
            Trained::Thresholds(thresholds) => &thresholds.trained.method,
            Trained::UsualRatios(_) => MethodName::Laggard.as_str(),
        }
    }
}

impl MethodName {
    pub fn as_str(self) -> &'static str {
        match self {
            MethodName::Laggard => "laggard",
            MethodName::Production => Intrepid::NAME,
            MethodName::Testbench => Fast10::NAME,
        }
    }
}

impl PaperOptions {
    /// The method of a paper with these options. Fails for settings that it does not have.
    pub fn published<P: Paper>(&self) -> Result<Published<P>, SettingError> {
        let mut method = Published::default();
        if let Some(measure) = self.measure {
            method = method.with_measure(measure);
        }
        if !self.metrics.is_empty() {
            method = method.with_metrics(self.metrics.clone());
        }
        method.step = self.step.unwrap_or(method.step);
        method.with_settings(&self.settings)
    }
}

impl MethodChoice {
    /// The method, for a recording of `length`; with exact scores where they are written to a file.
    pub fn method(&self, length: Span, has_exact_scores: bool) -> Result<Box<dyn Method>, ChoiceError> {
        self.check()?;
        Ok(match self.name {
            MethodName::Laggard => Box::new(self.configured(length)),
            MethodName::Production => Box::new(self.published::<Intrepid>(has_exact_scores)?),
            MethodName::Testbench => Box::new(self.published::<Fast10>(has_exact_scores)?),
        })
    }

    fn published<P: Paper>(&self, has_exact_scores: bool) -> Result<Published<P>, ChoiceError> {
        let mut method = self.details.published()?;
        if let Some(thresholds) = self.thresholds() {
            method = Published::with_thresholds(method, thresholds.clone())?;
        }
        Ok(if has_exact_scores { method.with_exact_scores() } else { method })
    }

    fn thresholds(&self) -> Option<&Thresholds> {
        match &self.trained {
            Some(Trained::Thresholds(thresholds)) => Some(thresholds),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), ChoiceError> {
        let is_usual = matches!(self.trained, Some(Trained::UsualRatios(_)));
        if let Some(trained) = &self.trained
            && is_usual != (self.name == MethodName::Laggard)
        {
            return Err(ChoiceError::OtherMethod {
                trained: trained.method().into(),
                asked: self.name.as_str(),
            });
        }
        if self.name != MethodName::Laggard {
            return if self.windows.is_empty() { Ok(()) } else { Err(ChoiceError::OnlyForLaggard) };
        }
        let unused = [
            ("--step", self.details.step.is_some()),
            ("--measure", self.details.measure.is_some()),
            ("--set", !self.details.settings.is_empty()),
        ];
        if let Some((option, _)) = unused.into_iter().find(|(_, is_given)| *is_given) {
            return Err(ChoiceError::NotForLaggard(option));
        }
        self.check_metrics()?;
        check_windows(&self.configured(Span::ZERO))
    }

    /// The papers' methods compare any metric; the method laggard has its own.
    fn check_metrics(&self) -> Result<(), ChoiceError> {
        let kinds = [Kind::ATTACHMENT, Kind::NIC, Kind::LINK, Kind::SERVER, Kind::CLIENT];
        let metrics = kinds.iter().flat_map(Laggard::compared);
        let compared: BTreeSet<MetricId> = metrics.map(|metric| metric.id).collect();
        match self.details.metrics.iter().find(|metric| !compared.contains(&metric.id)) {
            None => Ok(()),
            Some(metric) => Err(ChoiceError::Metric {
                metric: metric.name,
                compared: compared.into_iter().map(MetricId::name).collect(),
            }),
        }
    }

    /// The method laggard, to be trained on a recording of `length`.
    pub fn laggard(&self, length: Span) -> Result<Laggard, ChoiceError> {
        self.check()?;
        Ok(self.configured(length))
    }

    fn configured(&self, length: Span) -> Laggard {
        let mut settings = Settings { span: Some(length), ..Settings::default() };
        if !self.windows.is_empty() {
            settings = settings.with_lengths(self.windows.clone());
        }
        let usual = match &self.trained {
            Some(Trained::UsualRatios(usual)) => Some(usual.clone()),
            _ => None,
        };
        Laggard { settings, only: self.details.metrics.clone(), usual }
    }

    /// Those of some metrics that the thresholds do not have.
    pub fn without_thresholds(&self, metrics: &[&'static Metric]) -> Vec<String> {
        let Some(thresholds) = self.thresholds() else { return Vec::new() };
        let ids: BTreeSet<MetricId> = metrics.iter().map(|metric| metric.id).collect();
        ids.into_iter().filter(|id| !thresholds.has(*id)).map(|id| id.to_string()).collect()
    }

    /// True if the method needs training and has no thresholds.
    pub fn is_untrained(&self) -> bool {
        self.name != MethodName::Laggard && self.trained.is_none()
    }
}

/// Long windows are composed of short ones.
pub fn check_windows(laggard: &Laggard) -> Result<(), ChoiceError> {
    laggard.settings.unfit_length().map_or(Ok(()), |unfit| Err(ChoiceError::Window(unfit)))
}
