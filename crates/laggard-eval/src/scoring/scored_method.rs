//! The methods that `laggard eval` can score.

use laggard_core::methods::Method;
use laggard_core::methods::laggard::{Laggard, Settings};
use laggard_core::methods::papers::distances::Measure;
use laggard_core::methods::papers::production::Production;
use laggard_core::methods::papers::testbench::Testbench;
use laggard_core::methods::papers::thresholds::Thresholds;
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
        let untrained = Production::default();
        trained.iter().any(|thresholds| match self {
            ScoredMethod::Production(measure) => {
                untrained.clone().with_measure(measure).with_thresholds(thresholds.clone()).is_ok()
            }
            ScoredMethod::Testbench => Testbench::default().with_thresholds(thresholds.clone()).is_ok(),
            ScoredMethod::Laggard | ScoredMethod::Comparison(_) => false,
        })
    }

    /// The window lengths: the requested ones, or the method's own fixed number of samples.
    pub fn lengths(self, asked: &[Span], step: Span) -> Vec<Span> {
        match self {
            ScoredMethod::Production(_) => vec![step * 60],
            ScoredMethod::Testbench => vec![step * 64],
            ScoredMethod::Laggard | ScoredMethod::Comparison(_) => asked.to_vec(),
        }
    }

    /// Uses the thresholds that were trained for this method, if there are any.
    pub fn method(self, run: &RunSettings, trained: &[Thresholds]) -> Box<dyn Method> {
        match self {
            ScoredMethod::Laggard => Box::new(laggard(run)),
            ScoredMethod::Production(measure) => {
                let mut untrained = Production::default().with_measure(measure).with_exact_scores();
                untrained.step = run.step.unwrap_or(untrained.step);
                let fitting = trained.iter().find_map(|t| untrained.clone().with_thresholds(t.clone()).ok());
                Box::new(fitting.unwrap_or(untrained))
            }
            ScoredMethod::Testbench => {
                let mut untrained = Testbench::default();
                untrained.step = run.step.unwrap_or(untrained.step);
                let fitting = trained.iter().find_map(|t| untrained.clone().with_thresholds(t.clone()).ok());
                Box::new(fitting.unwrap_or(untrained))
            }
            ScoredMethod::Comparison(comparison) => {
                Box::new(ConfiguredComparison { comparison, lengths: run.lengths.clone(), scale: run.scale })
            }
        }
    }
}

/// Uses the default windows and the requested ones.
pub fn laggard(run: &RunSettings) -> Laggard {
    let mut settings = Settings { span: Some(run.span), ..Settings::default() };
    settings.threshold *= run.scale;
    let lengths = [&settings.lengths[..], &run.lengths].concat();
    Laggard { settings: settings.with_lengths(lengths), ..Laggard::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_be_parsed_and_match_the_names_of_the_methods() {
        let run =
            RunSettings { span: Span::DAY, lengths: vec![Span::from_seconds(300)], scale: 1.0, step: None };
        for scored_method in ScoredMethod::ALL {
            assert_eq!(ScoredMethod::named(scored_method.as_str()), Some(scored_method));
            assert!(scored_method.as_str().starts_with(scored_method.method(&run, &[]).name()));
        }
    }
}
