//! Message counts of one log.

use std::collections::{BTreeMap, BTreeSet};

use laggard_core::model::time::{Span, Timestamp};
use serde::Serialize;

use super::class::Class;
use super::line::Line;
use super::parsers::Parser;
use super::place::{Place, Side};

/// An example is for people to read.
const LONGEST_EXAMPLE: usize = 300;

/// How many lines of each class, before and after.
pub(super) type Counts = BTreeMap<(Side, Class), Count>;

/// Message counts of one log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogCounts {
    pub place: Place,
    pub parser: Parser,
    pub bytes: u64,
    pub first: Option<Timestamp>,
    pub last: Option<Timestamp>,
    /// The time of the fault, if dates decide what is before and after.
    pub since: Option<Timestamp>,
    /// Lines of each class, before and after the fault.
    pub counts: Counts,
}

/// Lines of one class.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Count {
    pub lines: u64,
    pub first: Option<Timestamp>,
    pub last: Option<Timestamp>,
    /// The first of them, shortened, without bytes that are not text.
    pub example: String,
    pub names: BTreeSet<String>,
    /// Lines from or about each component of the file system that the rules know.
    pub components: BTreeMap<String, u64>,
}

impl LogCounts {
    pub(super) fn new(place: Place, parser: Parser, since: Option<Timestamp>) -> LogCounts {
        LogCounts { place, parser, bytes: 0, first: None, last: None, since, counts: Counts::new() }
    }

    /// The time it covers on one side of the fault.
    pub(super) fn span(&self, side: Side) -> Span {
        let (Some(first), Some(last)) = (self.first, self.last) else { return Span::ZERO };
        let span = match (self.since, side) {
            (Some(since), Side::Before) => last.min(since) - first,
            (Some(since), Side::After) => last - first.max(since),
            (None, side) if side == self.place.side => last - first,
            (None, _) => Span::ZERO,
        };
        span.max(Span::ZERO)
    }
}

impl Count {
    pub(super) fn first(line: &Line<'_>) -> Count {
        let joint: &[u8] = if line.function.is_empty() { b"" } else { b": " };
        let said = [line.function, joint, line.text].concat();
        let text = String::from_utf8_lossy(said.get(..LONGEST_EXAMPLE).unwrap_or(&said));
        let example = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        Count { example, ..Count::default() }
    }

    pub(super) fn add(&mut self, time: Option<Timestamp>) {
        self.lines += 1;
        self.first = self.first.or(time).min(time.or(self.first));
        self.last = self.last.max(time);
    }

    pub fn join(&mut self, other: &Count) {
        self.lines += other.lines;
        self.first = self.first.or(other.first).min(other.first.or(self.first));
        self.last = self.last.max(other.last);
        self.names.extend(other.names.iter().cloned());
        for (component, lines) in &other.components {
            *self.components.entry(component.clone()).or_default() += lines;
        }
        if self.example.is_empty() {
            self.example.clone_from(&other.example);
        }
    }
}
