//! Compiled rules of one file system.

use laggard_core::model::time::Timestamp;

use super::LogsError;
use super::matcher::Matcher;
use super::parsers::{Clock, Parser};
use super::place::Place;
use super::rules::Rules;
use super::scan::Scan;

/// The compiled rules of one file system, for any number of its logs.
pub struct Classifier {
    matcher: Matcher,
    clock: Clock,
    since: Option<Timestamp>,
}

impl Classifier {
    /// `clock` supplies what dates in the logs leave out.
    pub fn new(rules: Rules, clock: Clock) -> Result<Classifier, LogsError> {
        Classifier::naming(rules, clock, &[])
    }

    /// Also recognises these node names in messages.
    pub fn naming(rules: Rules, clock: Clock, nodes: &[String]) -> Result<Classifier, LogsError> {
        let matcher = Matcher::new(&rules.with_the_kernels()?, nodes)?;
        Ok(Classifier { matcher, clock, since: None })
    }

    /// Sets the time of the fault: lines with a date count as before or after by that date, not by their phase.
    pub fn since(self, since: Option<Timestamp>) -> Classifier {
        Classifier { since, ..self }
    }

    /// Begins to read a log. [`Parser::of`] detects its format from its first bytes.
    pub fn scan(&self, place: Place, parser: Parser) -> Scan<'_> {
        Scan::new(&self.matcher, place, parser, self.clock, self.since)
    }
}
