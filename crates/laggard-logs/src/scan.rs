//! Reading of one log, piece by piece.
//!
//! Most lines say nothing: one pattern of all rules together is run over the bytes, and only the lines that it
//! stops in are taken apart. [`Scan::line_by_line`] is the plain twin that takes all of them apart.

use std::sync::Arc;

use laggard_core::model::time::Timestamp;
use memchr::{memchr, memrchr};

use super::class::Class;
use super::line::Line;
use super::log_counts::{Count, LogCounts};
use super::matcher::Matcher;
use super::parsers::{Clock, Parser};
use super::place::{Place, Side};
use super::template::template;

/// A longer line is cut: what has no line ends is no log.
const LONGEST_LINE: usize = 1 << 20;

/// Templates of one log beyond these are counted as one.
const MOST_TEMPLATES: usize = 2000;

/// The template of all that came too late.
const OTHERS: &str = "(other messages)";

/// Nodes that messages of one class name, at most.
const MOST_NAMES: usize = 32;

/// A log that is being read.
pub struct Scan<'c> {
    matcher: &'c Matcher,
    parser: Parser,
    clock: Clock,
    since: Option<Timestamp>,
    is_fast: bool,
    pending: Vec<u8>,
    dated: Option<Timestamp>,
    templates: usize,
    seen: LogCounts,
}

impl<'c> Scan<'c> {
    pub(super) fn new(
        matcher: &'c Matcher,
        place: Place,
        parser: Parser,
        clock: Clock,
        since: Option<Timestamp>,
    ) -> Scan<'c> {
        let seen = LogCounts::new(place, parser, since);
        Scan {
            matcher,
            parser,
            clock,
            since,
            is_fast: true,
            pending: Vec::new(),
            dated: None,
            templates: 0,
            seen,
        }
    }

    /// The same, parsing every line: slow; tests compare the fast search with it.
    pub fn line_by_line(self) -> Scan<'c> {
        Scan { is_fast: false, ..self }
    }

    /// Sets the time of the fault: lines with a date count as before or after by that date, not by their phase, since
    /// some logs are late.
    pub fn since(mut self, since: Option<Timestamp>) -> Scan<'c> {
        self.since = since.or(self.since);
        self.seen.since = self.since;
        self
    }

    /// Takes the next bytes. Lines may span pieces.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        if !self.pending.is_empty() {
            let end = memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
            let (head, rest) = bytes.split_at(end);
            self.pending.extend_from_slice(head);
            bytes = rest;
            if self.pending.ends_with(b"\n") || self.pending.len() >= LONGEST_LINE {
                let pending = std::mem::take(&mut self.pending);
                self.lines(&pending);
            }
        }
        let end = memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let (whole, rest) = bytes.split_at(end);
        self.lines(whole);
        self.pending.extend_from_slice(rest);
    }

    /// Ends the log.
    pub fn finish(mut self) -> LogCounts {
        let pending = std::mem::take(&mut self.pending);
        self.lines(&pending);
        self.seen
    }

    /// Takes whole lines.
    fn lines(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.seen.bytes += bytes.len() as u64;
        self.note_begin(bytes);
        if self.is_fast {
            self.relevant_lines(bytes);
        } else {
            self.every_line(bytes);
        }
        self.note_end(bytes);
    }

    fn relevant_lines(&mut self, bytes: &[u8]) {
        let (mut from, mut looked_back_to) = (0, 0);
        while let Some(hit) = self.matcher.next(bytes, from) {
            let begin = bytes.get(..hit).and_then(|before| memrchr(b'\n', before)).map_or(0, |at| at + 1);
            let end =
                bytes.get(hit..).and_then(|after| memchr(b'\n', after)).map_or(bytes.len(), |at| hit + at);
            self.line(bytes, begin, end, &mut looked_back_to);
            from = end + 1;
            if from > bytes.len() {
                break;
            }
        }
    }

    fn every_line(&mut self, bytes: &[u8]) {
        let (mut begin, mut looked_back_to) = (0, 0);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let end = begin + line.strip_suffix(b"\n").unwrap_or(line).len();
            self.line(bytes, begin, end, &mut looked_back_to);
            begin += line.len();
        }
    }

    fn line(&mut self, bytes: &[u8], begin: usize, end: usize, looked_back_to: &mut usize) {
        let raw = bytes.get(begin..end).unwrap_or_default();
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        let line = self.parser.line(raw, &self.clock);
        let Some(class) = self.class(raw, &line) else { return };
        if line.time.is_none() {
            self.look_back(bytes.get(..begin).unwrap_or_default(), *looked_back_to);
        } else {
            self.dated = line.time;
        }
        *looked_back_to = begin;
        self.count(class, self.dated, &line);
    }

    /// Applies rules 2 and 3; [`Scan::side`] applies rule 1.
    fn class(&self, raw: &[u8], line: &Line<'_>) -> Option<Class> {
        let class = self.matcher.errno(line.text);
        let says_something = class.is_some() || self.matcher.has_word(line.text);
        if !says_something || self.matcher.is_ignored(raw) {
            return None;
        }
        Some(class.unwrap_or_else(|| Class::Custom(template(line.function, line.text).into())))
    }

    /// Messages of several lines have a date only in the first: takes that of the nearest line before with one.
    fn look_back(&mut self, before: &[u8], no_further_than: usize) {
        let nearest =
            dated_from_the_end(before.get(no_further_than..).unwrap_or_default(), self.parser, &self.clock);
        self.dated = nearest.or(self.dated);
    }

    fn count(&mut self, class: Class, time: Option<Timestamp>, line: &Line<'_>) {
        let side = self.side(time);
        let mut key = (side, class);
        if !self.seen.counts.contains_key(&key) && key.1.template().is_some() {
            self.templates += 1;
            if self.templates > MOST_TEMPLATES {
                key.1 = Class::Custom(Arc::from(OTHERS));
            }
        }
        let count = self.seen.counts.entry(key).or_insert_with(|| Count::first(line));
        count.add(time);
        if let Some(component) = self.matcher.component(line.function, line.text) {
            match count.components.get_mut(component) {
                Some(lines) => *lines += 1,
                None => _ = count.components.insert(component.to_owned(), 1),
            }
        }
        self.matcher.names(line.text, MOST_NAMES, &mut count.names);
    }

    /// Before or after the fault: by time if the fault's time is known, else by phase (rule 1).
    fn side(&self, time: Option<Timestamp>) -> Side {
        match (self.since, time) {
            (Some(since), Some(time)) if time < since => Side::Before,
            (Some(_), Some(_)) => Side::After,
            _ => self.seen.place.side,
        }
    }

    fn note_begin(&mut self, bytes: &[u8]) {
        if self.seen.first.is_none() {
            let time = |line: &[u8]| self.parser.line(line, &self.clock).time;
            self.seen.first = bytes.split(|byte| *byte == b'\n').find_map(time);
        }
    }

    fn note_end(&mut self, bytes: &[u8]) {
        if let Some(time) = dated_from_the_end(bytes, self.parser, &self.clock) {
            self.seen.last = Some(time);
            self.dated = Some(time);
        }
    }
}

/// The dates of the first and the last line that has one.
pub fn period(bytes: &[u8], clock: &Clock) -> (Option<Timestamp>, Option<Timestamp>) {
    let parser = Parser::of(bytes);
    let first = bytes.split(|byte| *byte == b'\n').find_map(|line| parser.line(line, clock).time);
    (first, dated_from_the_end(bytes, parser, clock))
}

/// The year of a time, for [`Clock`].
pub fn year(time: Timestamp) -> i16 {
    time.to_string().get(..4).and_then(|year| year.parse().ok()).unwrap_or(1970)
}

/// The date of the last line that has one.
fn dated_from_the_end(bytes: &[u8], parser: Parser, clock: &Clock) -> Option<Timestamp> {
    bytes.rsplit(|byte| *byte == b'\n').find_map(|line| parser.line(line, clock).time)
}
