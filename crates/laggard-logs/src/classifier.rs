//! Rules, ready to read logs by.

use laggard_core::model::time::Timestamp;

use super::LogsError;
use super::matcher::Matcher;
use super::parsers::{Clock, Parser};
use super::place::Place;
use super::rules::Rules;
use super::scan::Scan;

/// The rules of one file system, ready to read any number of its logs.
pub struct Classifier {
    matcher: Matcher,
    clock: Clock,
    since: Option<Timestamp>,
}

impl Classifier {
    /// By these rules. `clock` says what dates leave out.
    pub fn new(rules: Rules, clock: Clock) -> Result<Classifier, LogsError> {
        Classifier::naming(rules, clock, &[])
    }

    /// The same, that also sees where messages name one of these nodes.
    pub fn naming(rules: Rules, clock: Clock, nodes: &[String]) -> Result<Classifier, LogsError> {
        let matcher = Matcher::new(&rules.with_the_kernels()?, nodes)?;
        Ok(Classifier { matcher, clock, since: None })
    }

    /// The fault came at that time: lines with a date are told by it, not by their phase.
    pub fn since(self, since: Option<Timestamp>) -> Classifier {
        Classifier { since, ..self }
    }

    /// Begins to read a log; [`Parser::of`] tells its format from its first bytes.
    pub fn scan(&self, place: Place, parser: Parser) -> Scan<'_> {
        Scan::new(&self.matcher, place, parser, self.clock, self.since)
    }
}
