//! Everything people read follows docs/glossary.md: docs, help of every command, comments and messages.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod patterns;
mod prose;

use std::collections::BTreeSet;

use patterns::{PATTERNS, Pattern};
use support::{prints, workspace};

/// A place where wording to avoid was found.
fn matches(place: &str, line_number: usize, line: &str, patterns: &[Pattern]) -> Vec<String> {
    let text = prose::without_quotations(line);
    let found = patterns.iter().filter(|pattern| pattern.is_in(&text));
    found.map(|pattern| format!("{place}:{line_number}: {}: {}", pattern.instead, line.trim())).collect()
}

fn assert_plain(found: &[String]) {
    let shown: Vec<&str> = found.iter().take(60).map(String::as_str).collect();
    assert!(found.is_empty(), "{} lines use wording to avoid:\n{}", found.len(), shown.join("\n"));
}

#[test]
fn docs_use_plain_words() {
    let patterns = Pattern::all();
    let mut found = Vec::new();
    for (place, text) in prose::documents(&workspace()) {
        let lines = prose::outside_code_blocks(&text);
        found.extend(lines.flat_map(|(number, line)| matches(&place, number, line, &patterns)));
    }
    assert_plain(&found);
}

#[test]
fn comments_and_messages_use_plain_words() {
    let patterns = Pattern::all();
    let mut found = Vec::new();
    for (place, text) in prose::sources(&workspace()) {
        for (number, line) in prose::read_by_people(&text) {
            found.extend(matches(&place, number, &line, &patterns));
        }
    }
    assert_plain(&found);
}

#[test]
fn help_of_every_command_uses_plain_words() {
    let patterns = Pattern::all();
    let mut found = Vec::new();
    let mut commands = vec![Vec::new()];
    while let Some(command) = commands.pop() {
        let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = prints(&arguments);
        let place = format!("laggard {}", arguments.join(" "));
        found.extend(help.lines().enumerate().flat_map(|(n, line)| matches(&place, n + 1, line, &patterns)));
        let subcommands = prose::subcommands(&help).into_iter().filter(|name| name != "help");
        commands.extend(subcommands.map(|name| [command.as_slice(), &[name]].concat()));
    }
    assert_plain(&found);
}

#[test]
fn comments_begin_with_a_noun_or_a_verb() {
    let mut found = Vec::new();
    for (place, text) in prose::sources(&workspace()) {
        let openings = text.lines().enumerate().filter(|(_, line)| patterns::is_poor_opening(line));
        found.extend(openings.map(|(number, line)| format!("{place}:{}: {}", number + 1, line.trim())));
    }
    assert_plain(&found);
}

#[test]
fn types_are_not_named_by_metaphors_or_participles() {
    let mut found = Vec::new();
    for (place, text) in prose::sources(&workspace()) {
        let names =
            text.lines().enumerate().filter_map(|(number, line)| Some((number, patterns::type_name(line)?)));
        let odd = names.filter(|(_, name)| patterns::TYPE_NAMES.contains(name));
        found.extend(odd.map(|(number, name)| format!("{place}:{}: {name}", number + 1)));
    }
    assert_plain(&found);
}

#[test]
fn every_pattern_finds_its_example() {
    for (pattern, (_, _, example)) in Pattern::all().iter().zip(PATTERNS) {
        assert!(pattern.is_in(example), "{} does not find {example:?}", pattern.instead);
    }
}

/// The vocabulary of the project, where it is present beside it: each of its words is in our glossary.
#[test]
fn the_glossary_has_every_word_of_the_vocabulary() {
    let glossary = std::fs::read_to_string(workspace().join("docs/glossary.md")).unwrap();
    let words: BTreeSet<&str> = prose::first_column(&glossary).collect();
    assert!(words.len() > 15, "docs/glossary.md lists {} words", words.len());
    let Ok(vocabulary) = std::fs::read_to_string(workspace().join("../shared/WORDS.md")) else { return };
    let (_, table) = vocabulary.split_once("## Glossary").unwrap();
    let missing: Vec<&str> = prose::first_column(table).filter(|word| !words.contains(word)).collect();
    assert!(missing.is_empty(), "docs/glossary.md lacks {missing:?}");
}
