//! Text that others wrote: names of hosts and devices, labels of a cluster file. It may hold anything, also what
//! a terminal takes for an order or what turns the direction of writing.

use std::borrow::Cow;

const REPLACEMENT: &str = "\u{fffd}";

/// A blank at which no line ends.
pub const KEPT_TOGETHER: char = '\u{a0}';

/// The text with blanks at which no line ends.
pub fn together(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// The text on one line, without characters that do something rather than show something.
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, |c| c.is_control() || acts(c))
}

/// The same for a text of several lines.
pub fn lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| (c.is_control() && c != '\n') || acts(c))
}

fn replaced(text: &str, is_bad: impl Fn(char) -> bool + Copy) -> Cow<'_, str> {
    if text.contains(is_bad) { text.replace(is_bad, REPLACEMENT).into() } else { text.into() }
}

/// Marks that change the direction of writing, and what XML does not allow.
fn acts(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
}

/// The text in at most `room` characters, its middle left out where it is longer: names differ at their ends.
pub fn shortened(text: &str, room: usize) -> String {
    let count = text.chars().count();
    if count <= room {
        return text.into();
    }
    let kept = room.saturating_sub(1);
    let head: String = text.chars().take(kept - kept / 2).collect();
    let tail: String = text.chars().skip(count - kept / 2).collect();
    format!("{head}…{tail}")
}

/// `a, b, c and 46 more`.
pub fn listed<T: AsRef<str>>(names: &[T], room: usize) -> String {
    listed_with(names, room, ", ")
}

/// The same with another separator.
pub fn listed_with<T: AsRef<str>>(names: &[T], room: usize, separator: &str) -> String {
    // Leaving out a single one saves nothing.
    let shown = if names.len() <= room + 1 { names.len() } else { room };
    let names_shown: Vec<&str> = names[..shown].iter().map(AsRef::as_ref).collect();
    match names.len() - shown {
        0 => names_shown.join(separator),
        others => format!("{} and {others} more", names_shown.join(separator)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_to_a_terminal_are_only_shown() {
        assert_eq!(line("sd\x1b[2Ja\n"), format!("sd{REPLACEMENT}[2Ja{REPLACEMENT}"));
        assert_eq!(lines("a\u{202e}b\n"), format!("a{REPLACEMENT}b\n"));
        assert!(matches!(line("größe/eth0"), Cow::Borrowed("größe/eth0")));
    }

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shortened("oss3:sdb", 8), "oss3:sdb");
        assert_eq!(shortened("scsi-3600a0b80-lun17", 9), "scsi…un17");
        assert_eq!(shortened("abc", 0), "…");
    }

    #[test]
    fn long_lists_are_counted() {
        let names: Vec<String> = (1..=50).map(|n| format!("lun{n}")).collect();
        assert_eq!(listed(&names, 4), "lun1, lun2, lun3, lun4 and 46 more");
        assert_eq!(listed(&names[..5], 4), "lun1, lun2, lun3, lun4, lun5");
        assert_eq!(listed::<&str>(&[], 4), "");
    }
}
