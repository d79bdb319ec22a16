//! Detection of formats by content, and their names.

use crate::error::{first_line, quote};

/// The formats that one importer reads, in the order in which they are tried.
pub struct Formats<F: 'static>(pub &'static [FormatEntry<F>]);

pub struct FormatEntry<F> {
    pub format: F,
    /// The value of `--format`.
    pub name: &'static str,
    /// True for content that begins with these bytes. Always false for a format that detection cannot recognise.
    pub recognises: fn(&[u8]) -> bool,
}

impl<F: Copy + PartialEq> Formats<F> {
    pub fn detect(&self, start: &[u8]) -> Option<F> {
        self.0.iter().find(|entry| (entry.recognises)(start)).map(|entry| entry.format)
    }

    pub fn name(&self, format: F) -> &'static str {
        self.0.iter().find(|entry| entry.format == format).map_or("", |entry| entry.name)
    }

    pub fn parse(&self, name: &str) -> Result<F, UnknownFormat> {
        let entry = self.0.iter().find(|entry| entry.name == name);
        entry.map(|entry| entry.format).ok_or_else(|| {
            let known: Vec<&str> = self.0.iter().map(|entry| entry.name).collect();
            UnknownFormat { name: name.into(), known: known.join(", ") }
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not a format: write one of {known}")]
pub struct UnknownFormat {
    name: String,
    known: String,
}

/// A description of unrecognised content, for an error message.
pub fn describe(start: &[u8]) -> String {
    const CHECKED_CHARACTERS: usize = 256;
    let text = String::from_utf8_lossy(start);
    let is_binary = |c: char| c.is_control() && !c.is_whitespace() || c == '\u{fffd}';
    match start {
        [] => "an empty file".into(),
        [b'P', b'K', 3, 4, ..] => "a zip file (unpack it first)".into(),
        _ if !text.chars().take(CHECKED_CHARACTERS).any(is_binary) => {
            format!("text that begins {}", quote(first_line(start)))
        }
        _ => {
            let bytes: Vec<String> = start.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            format!("bytes that begin {}", bytes.join(" "))
        }
    }
}
