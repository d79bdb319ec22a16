//! Lines with roles, wrapped to a width; colours only where wanted.

use anstyle::{AnsiColor, Style};

use super::Layout;
use crate::report::untrusted_text;

/// The role of a piece of text, which decides its style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Just text.
    Plain,
    /// A suspect and its severity.
    Culprit,
    /// All is well.
    Good,
    /// A limit of the diagnosis.
    Caution,
    /// A heading.
    Label,
    /// Emphasised plain text.
    Strong,
}

impl Role {
    fn style(self) -> Style {
        let coloured = |colour: AnsiColor| colour.on_default();
        match self {
            Role::Plain => Style::new(),
            Role::Culprit => coloured(AnsiColor::Red).bold(),
            Role::Good => coloured(AnsiColor::Green).bold(),
            Role::Caution => coloured(AnsiColor::Yellow).bold(),
            Role::Label => Style::new().dimmed(),
            Role::Strong => Style::new().bold(),
        }
    }
}

/// Where the text behind a label begins.
pub const INDENT: usize = 18;
/// Less room than this for a paragraph is no room.
const LEAST_ROOM: usize = 24;

/// The text written so far.
pub struct Sheet {
    text: String,
    layout: Layout,
}

impl Sheet {
    /// An empty one.
    pub fn new(layout: Layout) -> Sheet {
        Sheet { text: String::new(), layout }
    }

    /// All of it.
    pub fn finish(self) -> String {
        self.text
    }

    /// How many columns are left behind an indent.
    pub fn room(&self, indent: usize) -> usize {
        self.layout.width.saturating_sub(indent).max(LEAST_ROOM)
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// One line, never wrapped.
    pub fn line(&mut self, pieces: &[(Role, &str)]) {
        for (role, words) in pieces {
            self.push(*role, words);
        }
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
    }

    fn push(&mut self, role: Role, words: &str) {
        let words = untrusted_text::line(words);
        let style = if self.layout.has_colours { role.style() } else { Style::new() };
        self.text += &format!("{style}{words}{style:#}");
    }

    /// A wrapped text.
    pub fn paragraph(&mut self, indent: usize, words: &str) {
        self.hanging(&" ".repeat(indent), Role::Plain, words);
    }

    /// A wrapped text behind a label, about a suspect.
    pub fn field(&mut self, label: &str, words: &str) {
        self.hanging(&labelled(label), Role::Label, words);
    }

    /// A wrapped text behind a label, about the whole report.
    pub fn note(&mut self, label: &str, words: &str) {
        self.hanging(&format!("{label:<12}"), Role::Label, words);
    }

    /// A wrapped text behind a sign.
    pub fn item(&mut self, sign: &str, role: Role, words: &str) {
        self.hanging(&format!("  {sign:<2} "), role, words);
    }

    /// A wrapped text, the first line behind `head`, the others below its end.
    fn hanging(&mut self, head: &str, role: Role, words: &str) {
        let indent = head.chars().count();
        let blanks = " ".repeat(indent);
        for (number, line) in wrapped(words, self.room(indent)).iter().enumerate() {
            let head = if number == 0 { head } else { &blanks };
            self.line(&[(role, head), (Role::Plain, line)]);
        }
    }
}

/// A label, filled up to where its text begins.
pub fn labelled(label: &str) -> String {
    let width = INDENT - 4;
    format!("    {label:<width$}")
}

/// The words in lines of at most `width` characters; a longer word has a line of its own. What is joined by
/// [`untrusted_text::KEPT_TOGETHER`] is one word.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_ascii_whitespace() {
        let last = lines.len() - 1;
        let needed = lines[last].chars().count() + 1 + word.chars().count();
        if lines[last].is_empty() {
            lines[last].push_str(word);
        } else if needed <= width {
            lines[last] += &format!(" {word}");
        } else {
            lines.push(word.into());
        }
    }
    lines.iter().map(|line| line.replace(untrusted_text::KEPT_TOGETHER, " ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_never_cut() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable at all", 6), ["unbreakable", "at all"]);
        assert_eq!(wrapped("", 6), [""]);
        assert_eq!(wrapped("for 4\u{a0}h", 5), ["for", "4 h"]);
    }

    #[test]
    fn colours_are_written_only_when_wanted() {
        let written = |has_colours| {
            let mut sheet = Sheet::new(Layout { width: 80, has_colours });
            sheet.line(&[(Role::Culprit, "oss3\x1b[2J")]);
            sheet.finish()
        };
        assert_eq!(written(false), "oss3\u{fffd}[2J\n");
        assert_eq!(written(true), "\x1b[1m\x1b[31moss3\u{fffd}[2J\x1b[0m\n");
    }
}
