//! Patterns over component names: `oss{n}:dm-{lun}`, `*:sda`.

use std::collections::BTreeMap;
use std::fmt;

use regex::Regex;
use serde::{Deserialize, Serialize};

/// A pattern for names. `{word}` captures at least one character other than `: / > @`; `*` matches anything.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Pattern {
    text: String,
    matcher: Regex,
}

/// The captured words.
pub(super) type Captures = BTreeMap<String, String>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("pattern {pattern:?}: {problem}")]
pub struct PatternError {
    pattern: String,
    problem: String,
}

impl Pattern {
    pub fn new(text: &str) -> Result<Pattern, PatternError> {
        let wrong = |problem: String| PatternError { pattern: text.into(), problem };
        let expression = expression(text).map_err(wrong)?;
        let matcher = Regex::new(&expression).map_err(|_| wrong("it is too large".into()))?;
        Ok(Pattern { text: text.into(), matcher })
    }

    /// None if the name does not match.
    pub(super) fn captures(&self, name: &str) -> Option<Captures> {
        let found = self.matcher.captures(name)?;
        let named = self.matcher.capture_names().flatten();
        Some(named.filter_map(|n| Some((n.to_owned(), found.name(n)?.as_str().to_owned()))).collect())
    }

    /// The words that it captures.
    pub(super) fn words(&self) -> Vec<&str> {
        self.matcher.capture_names().flatten().collect()
    }

    pub fn matches(&self, name: &str) -> bool {
        self.matcher.is_match(name)
    }

    /// True if the part after the host has letters or digits of its own: `*:dm-{n}`, but not `oss3:*` or `*:{device}`.
    pub(super) fn names_device(&self) -> bool {
        let Some((_, device)) = self.text.rsplit_once(':') else { return false };
        let mut is_in_hole = false;
        device.chars().any(|c| {
            is_in_hole = if is_in_hole { c != '}' } else { c == '{' };
            !is_in_hole && c.is_alphanumeric()
        })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn expression(text: &str) -> Result<String, String> {
    let mut expression = String::from("^");
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}', '*']) {
        expression += &regex::escape(&rest[..at]);
        rest = match rest.as_bytes()[at] {
            b'*' => {
                expression += ".*";
                &rest[at + 1..]
            }
            b'{' => {
                let end = rest[at..].find('}').ok_or("a `{` has no `}`")? + at;
                expression += &hole(&rest[at + 1..end], &expression)?;
                &rest[end + 1..]
            }
            _ => return Err("a `}` has no `{`".into()),
        };
    }
    Ok(expression + &regex::escape(rest) + "$")
}

fn hole(word: &str, so_far: &str) -> Result<String, String> {
    let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let hole = format!("(?<{word}>");
    if !is_word {
        Err(format!("{{{word}}} needs a word of letters, digits and _ inside"))
    } else if so_far.contains(&hole) {
        Err(format!("{{{word}}} occurs twice"))
    } else {
        Ok(hole + "[^:/>@]+?)")
    }
}

/// The words in braces in a text.
pub(super) fn holes(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0))
}

/// Fills captured words into a text: `lun{lun}`.
pub(super) fn fill(text: &str, captures: &Captures) -> String {
    let mut filled = text.to_owned();
    for (word, value) in captures {
        filled = filled.replace(&format!("{{{word}}}"), value);
    }
    filled
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> String {
        pattern.text
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;
    fn try_from(text: String) -> Result<Pattern, PatternError> {
        Pattern::new(&text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_captured() {
        let pattern = Pattern::new("oss{n}:dm-{lun}").unwrap();
        let captures = pattern.captures("oss3:dm-17").unwrap();
        assert_eq!(fill("lun{lun} of {n}", &captures), "lun17 of 3");
        assert!(pattern.captures("oss3:sda").is_none());
    }

    #[test]
    fn a_word_does_not_match_a_separator_but_a_star_does() {
        assert!(!Pattern::new("{host}").unwrap().matches("oss3:sda"));
        assert!(Pattern::new("*").unwrap().matches("oss3:sda"));
        assert!(Pattern::new("*:sda").unwrap().matches("cluster_A/host_3:sda"));
    }

    #[test]
    fn a_pattern_names_a_device_by_letters_of_its_own() {
        for (text, expected) in [
            ("oss1:loop7", true),
            ("oss{n}:dm-{lun}", true),
            ("*:sda", true),
            ("oss1:*", false),
            ("{host}:{device}", false),
            ("oss1", false),
            ("oss1/eth0", false),
        ] {
            assert_eq!(Pattern::new(text).unwrap().names_device(), expected, "{text}");
        }
    }

    #[test]
    fn other_characters_are_literal() {
        assert!(!Pattern::new("oss.:sda").unwrap().matches("oss3:sda"));
    }

    #[test]
    fn a_wrong_pattern_says_what_is_wrong() {
        let problem = |text: &str| Pattern::new(text).unwrap_err().to_string();
        assert_eq!(problem("oss{n"), r#"pattern "oss{n": a `{` has no `}`"#);
        assert_eq!(problem("oss}"), r#"pattern "oss}": a `}` has no `{`"#);
        assert_eq!(problem("{n}:{n}"), r#"pattern "{n}:{n}": {n} occurs twice"#);
        assert_eq!(problem("{}"), r#"pattern "{}": {} needs a word of letters, digits and _ inside"#);
    }
}
