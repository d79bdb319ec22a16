//! The methods that `laggard eval` can score.

use laggard_core::methods::Method;
use laggard_core::methods::choice::{ChoiceError, PaperOptions};
use laggard_core::methods::laggard::{Laggard, Settings};
use laggard_core::methods::papers::distances::Measure;
use laggard_core::methods::papers::production::Intrepid;
use laggard_core::methods::papers::published::{Paper, Published};
use laggard_core::methods::papers::settings::PaperSettings;
use laggard_core::methods::papers::testbench::Fast10;
use laggard_core::methods::papers::thresholds::{Thresholds, ThresholdsError};
use laggard_core::model::time::Span;

use super::comparison::{ComparisonMethod, ConfiguredComparison};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoredMethod {
    Laggard,
    /// The method of the Intrepid paper.
    Production(Measure),
    /// The method of the FAST '10 paper.
    Testbench,
    Comparison(ComparisonMethod),
}

#[derive(Clone, Debug)]
pub struct RunSettings {
    /// The length of the data.
    pub span: Span,
    /// Window lengths, for methods that accept any.
    pub lengths: Vec<Span>,
    /// A multiple of the default threshold.
    pub scale: f64,
    /// The sampling step of the papers' methods; `None`: the step that the papers use.
    pub step: Option<Span>,
    /// Changed numbers of the papers' methods.
    pub settings: PaperSettings,
}

impl ScoredMethod {
    pub const ALL: [ScoredMethod; 10] = [
        ScoredMethod::Laggard,
        ScoredMethod::Production(Measure::Cdf),
        ScoredMethod::Production(Measure::Median),
        ScoredMethod::Production(Measure::Thresh),
        ScoredMethod::Testbench,
        ScoredMethod::Comparison(ComparisonMethod::AugursMad),
        ScoredMethod::Comparison(ComparisonMethod::AugursDbscan),
        ScoredMethod::Comparison(ComparisonMethod::Fixed),
        ScoredMethod::Comparison(ComparisonMethod::Iaso),
        ScoredMethod::Comparison(ComparisonMethod::RunningMean),
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ScoredMethod::Laggard => "laggard",
            ScoredMethod::Production(Measure::Cdf) => "production",
            ScoredMethod::Production(Measure::Median) => "production-median",
            ScoredMethod::Production(Measure::Thresh) => "production-thresh",
            ScoredMethod::Production(Measure::Kl) => "production-kl",
            ScoredMethod::Testbench => "testbench",
            ScoredMethod::Comparison(comparison) => comparison.as_str(),
        }
    }

    pub fn named(word: &str) -> Option<ScoredMethod> {
        ScoredMethod::ALL.into_iter().find(|scored_method| scored_method.as_str() == word)
    }

    /// True if the threshold can be changed without new training.
    pub fn can_be_swept(self) -> bool {
        matches!(self, ScoredMethod::Laggard | ScoredMethod::Comparison(_))
    }

    pub fn is_trained(self) -> bool {
        matches!(self, ScoredMethod::Production(_) | ScoredMethod::Testbench)
    }

    /// True if one of the thresholds was trained for this method.
    pub fn fits_any(self, trained: &[Thresholds]) -> bool {
        let is_for =
            |method: &str, measure: Measure| trained.iter().any(|t| t.check(method, measure).is_ok());
        match self {
            ScoredMethod::Production(measure) => is_for(Intrepid::NAME, measure),
            ScoredMethod::Testbench => is_for(Fast10::NAME, Measure::Kl),
            ScoredMethod::Laggard | ScoredMethod::Comparison(_) => false,
        }
    }

    /// The window lengths: the requested ones, or the method's own fixed number of samples.
    pub fn lengths(self, asked: &[Span], step: Span, settings: &PaperSettings) -> Vec<Span> {
        let samples = |papers: usize| vec![step * settings.window.unwrap_or(papers) as i64];
        match self {
            ScoredMethod::Production(_) => samples(60),
            ScoredMethod::Testbench => samples(64),
            ScoredMethod::Laggard | ScoredMethod::Comparison(_) => asked.to_vec(),
        }
    }

    /// Uses the thresholds that were trained for this method, if there are any. Fails for settings that the method does
    /// not have, and if its thresholds were trained with other settings.
    pub fn method(self, run: &RunSettings, of: &[Thresholds]) -> Result<Box<dyn Method>, ChoiceError> {
        Ok(match self {
            ScoredMethod::Laggard => Box::new(laggard(run)),
            ScoredMethod::Production(measure) => {
                let method = run.options(Some(measure)).published::<Intrepid>()?;
                Box::new(trained(method.with_exact_scores(), of)?)
            }
            ScoredMethod::Testbench => Box::new(trained(run.options(None).published::<Fast10>()?, of)?),
            ScoredMethod::Comparison(comparison) => {
                Box::new(ConfiguredComparison { comparison, lengths: run.lengths.clone(), scale: run.scale })
            }
        })
    }
}

impl RunSettings {
    fn options(&self, measure: Option<Measure>) -> PaperOptions {
        PaperOptions { measure, metrics: Vec::new(), step: self.step, settings: self.settings }
    }
}

/// With the first thresholds that fit. Those of other methods are left out; those of the method must fit.
fn trained<P: Paper>(
    untrained: Published<P>,
    thresholds: &[Thresholds],
) -> Result<Published<P>, ThresholdsError> {
    let mut unfit = None;
    for thresholds in thresholds {
        match untrained.clone().with_thresholds(thresholds.clone()) {
            Ok(method) => return Ok(method),
            Err(ThresholdsError::Mismatch { .. }) => {}
            Err(error) => unfit = Some(error),
        }
    }
    unfit.map_or(Ok(untrained), Err)
}

/// Uses the default windows and the requested ones.
pub fn laggard(run: &RunSettings) -> Laggard {
    let mut settings = Settings { span: Some(run.span), ..Settings::default() };
    settings.deviations *= run.scale;
    let lengths = [&settings.lengths[..], &run.lengths].concat();
    Laggard { settings: settings.with_lengths(lengths), ..Laggard::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_parsed_and_match_the_names_of_the_methods() {
        let run = RunSettings {
            span: Span::DAY,
            lengths: vec![Span::from_seconds(300)],
            scale: 1.0,
            step: None,
            settings: PaperSettings::default(),
        };
        for scored_method in ScoredMethod::ALL {
            assert_eq!(ScoredMethod::named(scored_method.as_str()), Some(scored_method));
            assert!(scored_method.as_str().starts_with(scored_method.method(&run, &[]).unwrap().name()));
        }
    }
}
