//! Compiled rules: which lines may report a failure, and which class they have.

use std::collections::BTreeSet;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::LogsError;
use super::class::{Class, LETTERS};
use super::errno::{self, ERRNOS};
use super::rules::{Name, Rules};

/// Failure words of all file systems (rule 3).
const WORDS: [&str; 22] = [
    "fail",
    "error",
    "unable",
    "cannot",
    "could not",
    "timed? ?out",
    "refus",
    "unreach",
    "lost",
    "evict",
    "offline",
    "disconnect",
    "abort",
    "corrupt",
    "damaged",
    "inconsisten",
    "panic",
    "LBUG",
    "ASSERT",
    "going down",
    "read-only",
    "retry",
];

/// Forms in which error numbers are written as numbers, in the order in which they are looked for. The number comes
/// last in each, but for a bracket.
const NUMBERS: [&str; 4] = [
    r"errno[=: ]+\d+",
    r"syserr: .* \(\d+\)",
    r"\brc[ =:]*(?:-?\d+/)?-\d+",
    r"(?:failed|error|status)[ :=(]+-\d+",
];

/// The same, for the search through a whole log. It skips `rc = 0` and `rc = -1`, of which there are thousands.
const NUMBERS_AT_ALL: &str = r"errno[=: ]+\d|syserr: |rc[ =:]*(?:-?\d+/)?-(?:[2-9]|\d\d)|rc[ =:]*-(?:[2-9]|\d\d)|status[ :=(]+-(?:[2-9]|\d\d)";

/// Text before and after a C library message that is given as the cause.
const BEFORE_TEXT: &str = r"(?:^|\[|\(|syserr: |error=|: )";
const AFTER_TEXT: &str = r"(?:[\]).};,]|$)";

/// A pattern of all rules together is large, and is used on every byte.
const MOST_STATES_BYTES: usize = 64 << 20;

pub(super) struct Matcher {
    candidate: Regex,
    numbers: Vec<Regex>,
    any_number: Regex,
    text: Regex,
    equivalents: RegexSet,
    equivalent_errnos: Vec<u8>,
    words: Regex,
    ignored_phrases: Regex,
    ignored_lines: Regex,
    names: Vec<(Regex, Option<String>)>,
    any_name: Regex,
    customised: Vec<(u8, char)>,
    components: Vec<(Regex, String)>,
}

impl Matcher {
    pub(super) fn new(rules: &Rules, nodes: &[String]) -> Result<Matcher, LogsError> {
        let texts: Vec<String> = ERRNOS.iter().map(|row| regex::escape(row.2)).collect();
        let words: Vec<String> =
            WORDS.iter().map(|word| (*word).to_owned()).chain(rules.words.iter().cloned()).collect();
        let equivalents: Vec<String> =
            rules.equivalents.iter().flat_map(|equivalent| equivalent.texts.iter().cloned()).collect();
        let everything: Vec<String> = words
            .iter()
            .chain(&equivalents)
            .map(|pattern| widened(pattern))
            .chain([NUMBERS_AT_ALL.to_owned()])
            .chain(texts.iter().cloned())
            .collect();
        let names = names(&rules.names, nodes);
        Ok(Matcher {
            candidate: compiled(&alternatives(&everything))?,
            numbers: NUMBERS.iter().map(|pattern| compiled(pattern)).collect::<Result<_, _>>()?,
            any_number: compiled(&alternatives(&NUMBERS.map(str::to_owned)))?,
            text: compiled(&format!("{BEFORE_TEXT}({}){AFTER_TEXT}", texts.join("|")))?,
            equivalents: set(&equivalents)?,
            equivalent_errnos: rules
                .equivalents
                .iter()
                .flat_map(|equivalent| equivalent.texts.iter().map(|_| equivalent.errno))
                .collect(),
            words: compiled(&alternatives(&words))?,
            ignored_phrases: compiled(&alternatives(&rules.ignore_phrases))?,
            ignored_lines: compiled(&alternatives(&rules.ignore_lines))?,
            any_name: exactly(&alternatives(&names.iter().map(|name| name.0.clone()).collect::<Vec<_>>()))?,
            names: names
                .into_iter()
                .map(|(pattern, node)| Ok((exactly(&pattern)?, node)))
                .collect::<Result<_, LogsError>>()?,
            customised: customised(rules)?,
            components: rules
                .components
                .iter()
                .map(|component| Ok((compiled(&component.text)?, component.name.clone())))
                .collect::<Result<_, LogsError>>()?,
        })
    }

    /// A position within the next line, at or after `from`, that may report a failure.
    pub(super) fn next(&self, bytes: &[u8], from: usize) -> Option<usize> {
        // No pattern contains a line end, so the match ends within the line.
        self.candidate.shortest_match_at(bytes, from).map(|end| end.saturating_sub(1).max(from))
    }

    pub(super) fn is_ignored(&self, line: &[u8]) -> bool {
        self.ignored_lines.is_match(line)
    }

    /// The class of a text that contains an error number or stands for one (rule 2).
    pub(super) fn errno(&self, text: &[u8]) -> Option<Class> {
        if let Some(number) = self.number(text) {
            return Some(Class::of(number));
        }
        let equivalent = self.equivalents.matches(text).iter().next();
        let customised = equivalent.and_then(|at| self.equivalent_errnos.get(at).copied()).or_else(|| {
            let said = self.text.captures(text)?.get(1)?;
            errno::of_text(said.as_bytes())
        })?;
        let letter = self.customised.iter().find(|(number, _)| *number == customised);
        Some(letter.map_or(Class::of(customised), |(_, letter)| Class::Letter(*letter)))
    }

    fn number(&self, text: &[u8]) -> Option<u8> {
        if !self.any_number.is_match(text) {
            return None;
        }
        self.numbers
            .iter()
            .find_map(|form| form.find_iter(text).find_map(|said| number_at_end(said.as_bytes())))
    }

    /// True if a text has a failure word (rule 3).
    pub(super) fn has_word(&self, text: &[u8]) -> bool {
        let Some(first) = self.words.find(text) else { return false };
        let ignored: Vec<(usize, usize)> =
            self.ignored_phrases.find_iter(text).map(|phrase| (phrase.start(), phrase.end())).collect();
        let is_free =
            |start: usize, end: usize| ignored.iter().all(|phrase| end <= phrase.0 || phrase.1 <= start);
        is_free(first.start(), first.end())
            || self.words.find_iter(text).any(|word| is_free(word.start(), word.end()))
    }

    /// The component of the file system that a message is from or about, if the rules know it.
    pub(super) fn component(&self, function: &[u8], text: &[u8]) -> Option<&str> {
        let is_of = |pattern: &Regex| pattern.is_match(function) || pattern.is_match(text);
        self.components.iter().find(|(pattern, _)| is_of(pattern)).map(|(_, name)| name.as_str())
    }

    pub(super) fn names(&self, text: &[u8], most: usize, into: &mut BTreeSet<String>) {
        if !self.any_name.is_match(text) {
            return;
        }
        for (pattern, node) in &self.names {
            for said in pattern.captures_iter(text).take(most) {
                if into.len() >= most {
                    return;
                }
                match (node, said.get(1).map(|number| number.as_bytes())) {
                    (Some(node), Some(number)) if !number.is_empty() => {
                        let number = String::from_utf8_lossy(number);
                        let number =
                            u32::from_str_radix(&number, 16).map_or(number.into_owned(), |n| n.to_string());
                        into.insert(format!("{node}{number}"));
                    }
                    (Some(node), _) => _ = into.insert(node.clone()),
                    (None, _) => {
                        let name = said.get(0).map_or(&b""[..], |name| name.as_bytes());
                        into.insert(String::from_utf8_lossy(name).into_owned());
                    }
                }
            }
        }
    }
}

/// The number at the end of a match: an errno as such, or negative. `-1` stands for any failure, so it tells nothing;
/// of two, `rc -5/-1`, the first may.
fn number_at_end(said: &[u8]) -> Option<u8> {
    let said = said.strip_suffix(b")").unwrap_or(said);
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let valued = |digits: &[u8], least: u32| {
        let value = digits.iter().try_fold(0_u32, |value, byte| {
            value.checked_mul(10)?.checked_add(u32::from(byte.wrapping_sub(b'0')))
        })?;
        (least..=133).contains(&value).then(|| u8::try_from(value).ok())?
    };
    let count = said.iter().rev().take_while(|byte| is_digit(byte)).count();
    let (before, digits) = said.split_at(said.len() - count);
    let Some(before) = before.strip_suffix(b"-") else { return valued(digits, 1) };
    valued(digits, 2).or_else(|| {
        let first = before.strip_suffix(b"/")?;
        let count = first.iter().rev().take_while(|byte| is_digit(byte)).count();
        let (before, digits) = first.split_at(first.len() - count);
        before.ends_with(b"-").then(|| valued(digits, 2))?
    })
}

/// The pattern of each name, and the node where the rules say it; else the name is the node's.
fn names(said: &[Name], nodes: &[String]) -> Vec<(String, Option<String>)> {
    let given = nodes.iter().map(|node| (format!(r"\b{}\b", regex::escape(node)), None));
    said.iter().map(|name| (name.text.clone(), Some(name.node.clone()))).chain(given).collect()
}

fn customised(rules: &Rules) -> Result<Vec<(u8, char)>, LogsError> {
    let known = |(number, letter): (&String, &char)| {
        let number = number.parse().ok().filter(|number| LETTERS.contains(&(*letter, *number, true)));
        number
            .map(|number| (number, *letter))
            .ok_or_else(|| LogsError::Letter { rules: rules.name.clone(), letter: *letter })
    };
    rules.letters.iter().map(known).collect()
}

/// A pattern without its word ends, which look at what stands around a text.
fn widened(pattern: &str) -> String {
    pattern.replace(r"\b", "")
}

/// A pattern for any of these; for none of them, one that nothing fits.
fn alternatives(patterns: &[String]) -> String {
    match patterns {
        [] => r"[a&&b]".to_owned(),
        _ => patterns.iter().map(|pattern| format!("(?:{pattern})")).collect::<Vec<_>>().join("|"),
    }
}

fn compiled(pattern: &str) -> Result<Regex, LogsError> {
    built(pattern, true)
}

/// In just this case.
fn exactly(pattern: &str) -> Result<Regex, LogsError> {
    built(pattern, false)
}

fn built(pattern: &str, is_any_case: bool) -> Result<Regex, LogsError> {
    let built = RegexBuilder::new(pattern)
        .unicode(false)
        .case_insensitive(is_any_case)
        .size_limit(MOST_STATES_BYTES)
        .dfa_size_limit(MOST_STATES_BYTES)
        .build();
    built.map_err(|error| LogsError::Pattern(Box::new(error)))
}

fn set(patterns: &[String]) -> Result<RegexSet, LogsError> {
    let built = RegexSetBuilder::new(patterns).unicode(false).case_insensitive(true).build();
    built.map_err(|error| LogsError::Pattern(Box::new(error)))
}
