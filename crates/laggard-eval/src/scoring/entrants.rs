//! The methods that can be scored, by their words.

use laggard_core::methods::Method;
use laggard_core::methods::laggard::{Laggard, Settings};
use laggard_core::methods::papers::distances::Measure;
use laggard_core::methods::papers::production::Production;
use laggard_core::methods::papers::testbench::Testbench;
use laggard_core::methods::papers::thresholds::Thresholds;
use laggard_core::model::time::Span;

use super::rivals::{Contender, Rival};

/// A method that can be scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrant {
    /// The default method.
    Laggard,
    /// The Intrepid paper's, with one of its measures.
    Production(Measure),
    /// The FAST '10 paper's.
    Testbench,
    /// One of the others.
    Rival(Rival),
}

/// How an entrant is to look.
#[derive(Clone, Debug)]
pub struct Look {
    /// How much there is to see.
    pub span: Span,
    /// How long windows are, where the method leaves that open.
    pub lengths: Vec<Span>,
    /// Its threshold is this many times its usual one, where it has one.
    pub scale: f64,
    /// The distance of samples, for the methods of the papers; nothing: the papers'.
    pub step: Option<Span>,
}

impl Entrant {
    /// All of them.
    pub const ALL: [Entrant; 10] = [
        Entrant::Laggard,
        Entrant::Production(Measure::Cdf),
        Entrant::Production(Measure::Median),
        Entrant::Production(Measure::Thresh),
        Entrant::Testbench,
        Entrant::Rival(Rival::AugursMad),
        Entrant::Rival(Rival::AugursDbscan),
        Entrant::Rival(Rival::Fixed),
        Entrant::Rival(Rival::Iaso),
        Entrant::Rival(Rival::RunningMean),
    ];

    /// The word it is chosen by.
    pub fn as_str(self) -> &'static str {
        match self {
            Entrant::Laggard => "laggard",
            Entrant::Production(Measure::Cdf) => "production",
            Entrant::Production(Measure::Median) => "production-median",
            Entrant::Production(Measure::Thresh) => "production-thresh",
            Entrant::Production(Measure::Kl) => "production-kl",
            Entrant::Testbench => "testbench",
            Entrant::Rival(rival) => rival.as_str(),
        }
    }

    /// The entrant with that word.
    pub fn named(word: &str) -> Option<Entrant> {
        Entrant::ALL.into_iter().find(|entrant| entrant.as_str() == word)
    }

    /// Whether its threshold can be moved without training it anew.
    pub fn can_be_swept(self) -> bool {
        matches!(self, Entrant::Laggard | Entrant::Rival(_))
    }

    /// Whether it is meant to be trained.
    pub fn is_trained(self) -> bool {
        matches!(self, Entrant::Production(_) | Entrant::Testbench)
    }

    /// Whether one of some thresholds was trained for it.
    pub fn fits_any(self, trained: &[Thresholds]) -> bool {
        let untrained = Production::default();
        trained.iter().any(|thresholds| match self {
            Entrant::Production(measure) => {
                untrained.clone().with_measure(measure).with_thresholds(thresholds.clone()).is_ok()
            }
            Entrant::Testbench => Testbench::default().with_thresholds(thresholds.clone()).is_ok(),
            Entrant::Laggard | Entrant::Rival(_) => false,
        })
    }

    /// The lengths of its windows, of those that are asked for or its own: so many samples.
    pub fn lengths(self, asked: &[Span], step: Span) -> Vec<Span> {
        match self {
            Entrant::Production(_) => vec![step * 60],
            Entrant::Testbench => vec![step * 64],
            Entrant::Laggard | Entrant::Rival(_) => asked.to_vec(),
        }
    }

    /// The method. Of the thresholds, those hold that were trained for it.
    pub fn method(self, look: &Look, trained: &[Thresholds]) -> Box<dyn Method> {
        match self {
            Entrant::Laggard => Box::new(laggard(look)),
            Entrant::Production(measure) => {
                let mut untrained = Production::default().with_measure(measure).with_exact_scores();
                untrained.step = look.step.unwrap_or(untrained.step);
                let fitting = trained.iter().find_map(|t| untrained.clone().with_thresholds(t.clone()).ok());
                Box::new(fitting.unwrap_or(untrained))
            }
            Entrant::Testbench => {
                let mut untrained = Testbench::default();
                untrained.step = look.step.unwrap_or(untrained.step);
                let fitting = trained.iter().find_map(|t| untrained.clone().with_thresholds(t.clone()).ok());
                Box::new(fitting.unwrap_or(untrained))
            }
            Entrant::Rival(rival) => {
                Box::new(Contender { rival, lengths: look.lengths.clone(), scale: look.scale })
            }
        }
    }
}

/// With its own windows, and those that are asked for.
pub fn laggard(look: &Look) -> Laggard {
    let mut settings = Settings { span: Some(look.span), ..Settings::default() };
    settings.threshold *= look.scale;
    let lengths = [&settings.lengths[..], &look.lengths].concat();
    Laggard { settings: settings.with_lengths(lengths), ..Laggard::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back_to_entrants_and_are_what_methods_call_themselves() {
        let look = Look { span: Span::DAY, lengths: vec![Span::from_seconds(300)], scale: 1.0, step: None };
        for entrant in Entrant::ALL {
            assert_eq!(Entrant::named(entrant.as_str()), Some(entrant));
            assert!(entrant.as_str().starts_with(entrant.method(&look, &[]).name()));
        }
    }
}
