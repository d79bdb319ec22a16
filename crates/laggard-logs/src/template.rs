//! Customised messages as templates: variable text is masked, so that similar messages are counted together. [`clusters`]
//! then joins templates that differ in a few words (as Drain does, He et al. 2017).

use std::collections::BTreeMap;

/// Messages that agree up to here are of one kind.
const MOST_WORDS: usize = 16;

/// A word may be a whole document.
const MOST_BYTES_OF_A_WORD: usize = 80;

/// Runs of letters and digits this long, all hexadecimal with a digit among them, are pointers and identifiers.
const LEAST_HEXADECIMAL: usize = 8;

/// The message with numbers, identifiers, addresses and paths as `#`, and the function that wrote it before it.
/// It does not depend on the order of messages.
pub(crate) fn template(function: &[u8], text: &[u8]) -> String {
    let mut template = String::with_capacity(160);
    if !function.is_empty() {
        mask(function, &mut template);
        template.push_str(": ");
    }
    for (at, word) in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).enumerate() {
        if at == MOST_WORDS {
            template.push_str("...");
            break;
        }
        if is_path(word) {
            template.push_str(if word.ends_with(b":") { "#path:" } else { "#path" });
        } else {
            mask(word.get(..MOST_BYTES_OF_A_WORD).unwrap_or(word), &mut template);
        }
        template.push(' ');
    }
    template.truncate(template.trim_end().len());
    template
}

/// `/bricks/s1/file`, `[/path`, `'/path'`.
fn is_path(word: &[u8]) -> bool {
    let bare = word.iter().position(|byte| !matches!(byte, b'[' | b'(' | b'\'' | b'"' | b'{'));
    bare.and_then(|at| word.get(at..)).is_some_and(|bare| bare.starts_with(b"/") && bare.len() > 1)
}

/// Appends a word with its numbers masked; `10.0.0.1:8008` and `0x1:0x2` become one `#`.
fn mask(word: &[u8], template: &mut String) {
    let mut rest = word;
    let mut is_after_number = false;
    let mut joint = None;
    while let Some(&first) = rest.first() {
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if length == 0 {
            if let Some(joint) = joint.replace(first) {
                push(joint, template);
            }
            // A joint between two numbers is part of one; any other byte ends it.
            if !(is_after_number && matches!(first, b'.' | b':' | b'/' | b'-' | b'_' | b'@')) {
                push(first, template);
                joint = None;
                is_after_number = false;
            }
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let (run, after) = rest.split_at(length);
        rest = after;
        let goes_on = joint == Some(b'-') && run.len() >= 4 && run.iter().all(u8::is_ascii_hexdigit);
        if goes_on || is_identifier(run) {
            if joint.take().is_none() {
                template.push('#');
            }
            is_after_number = true;
            continue;
        }
        if let Some(joint) = joint.take() {
            push(joint, template);
        }
        is_after_number = letters(run, template);
    }
    if let Some(joint) = joint {
        push(joint, template);
    }
}

/// Copies letters and masks digits. Returns true if a number came last.
fn letters(run: &[u8], template: &mut String) -> bool {
    let mut is_number = false;
    for &byte in run {
        if !byte.is_ascii_digit() {
            push(byte, template);
        } else if !is_number {
            template.push('#');
        }
        is_number = byte.is_ascii_digit();
    }
    is_number
}

fn is_identifier(run: &[u8]) -> bool {
    let bare = run.strip_prefix(b"0x").unwrap_or(run);
    let is_number = bare.iter().all(u8::is_ascii_digit);
    let is_hexadecimal = bare.iter().all(u8::is_ascii_hexdigit);
    let has_digit = bare.iter().any(u8::is_ascii_digit);
    is_number || is_hexadecimal && (bare.len() < run.len() || has_digit && bare.len() >= LEAST_HEXADECIMAL)
}

fn push(byte: u8, template: &mut String) {
    template.push(if byte.is_ascii() && !byte.is_ascii_control() { char::from(byte) } else { '?' });
}

/// Two templates are variants of one if this many of ten words are equal.
const ALIKE_OF_TEN: usize = 6;

/// Each template with the common one of its variants, in which words that differ are `*`.
///
/// Templates of one length and one first word are compared, in order of the alphabet: the outcome does not depend on
/// which message came first.
pub(crate) fn clusters<'t>(templates: impl Iterator<Item = &'t str>) -> BTreeMap<String, String> {
    let sorted: std::collections::BTreeSet<&str> = templates.collect();
    let mut leaves: BTreeMap<(usize, &str), Vec<Cluster<'_>>> = BTreeMap::new();
    for template in sorted {
        let words: Vec<&str> = template.split(' ').collect();
        let leaf = leaves.entry((words.len(), words.first().copied().unwrap_or(""))).or_default();
        match leaf.iter_mut().find(|cluster| cluster.is_like(&words)) {
            Some(cluster) => cluster.join(template, &words),
            None => leaf.push(Cluster { words, members: vec![template] }),
        }
    }
    let named = |cluster: Cluster<'_>| {
        let name = cluster.words.join(" ");
        cluster.members.into_iter().map(|member| (member.to_owned(), name.clone())).collect::<Vec<_>>()
    };
    leaves.into_values().flatten().flat_map(named).collect()
}

struct Cluster<'t> {
    words: Vec<&'t str>,
    members: Vec<&'t str>,
}

impl<'t> Cluster<'t> {
    fn is_like(&self, words: &[&str]) -> bool {
        let alike = self.words.iter().zip(words).filter(|(a, b)| a == b).count();
        alike * 10 >= words.len() * ALIKE_OF_TEN
    }

    fn join(&mut self, template: &'t str, words: &[&'t str]) {
        for (mine, other) in self.words.iter_mut().zip(words) {
            if mine != other {
                *mine = "*";
            }
        }
        self.members.push(template);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        template(b"", text.as_bytes())
    }

    #[test]
    fn numbers_addresses_identifiers_and_paths_are_masked() {
        assert_eq!(masked("Connect failed: meta@10.0.0.123:8005"), "Connect failed: meta@#");
        assert_eq!(masked("import ffff995604b3a800 lost"), "import # lost");
        assert_eq!(masked("lustre-OST0001-osc lost [0x200:0xca:0x0]"), "lustre-OST#-osc lost [#]");
        assert_eq!(masked("open of '/bricks/s1/file 7' failed"), "open of #path #' failed");
        assert_eq!(masked("MGS: deadbeef is a word, dead is not"), "MGS: deadbeef is a word, dead is not");
        assert_eq!(masked("export 5c565410-e636-85ec-3253-5c0de6bcfa2e failed"), "export # failed");
        assert_eq!(masked("(00000000-0edd-abcd-beef-5c0de6bcfa2e) gone"), "(#) gone");
    }

    #[test]
    fn the_function_precedes_the_text_and_bad_bytes_become_one_character() {
        assert_eq!(template(b"osd_read", b"lost \xff\xfe"), "osd_read: lost ??");
        assert_eq!(template(b"", b""), "");
    }

    #[test]
    fn templates_that_differ_in_a_word_are_one_whatever_their_order() {
        let four = ["osc lost client a now", "osc lost client b now", "mdc lost client a now", "osc gone"];
        let forth = clusters(four.into_iter());
        let back = clusters(four.into_iter().rev());
        assert_eq!(forth, back);
        assert_eq!(forth["osc lost client a now"], "osc lost client * now");
        assert_eq!(forth["osc lost client b now"], "osc lost client * now");
        assert_eq!(forth["mdc lost client a now"], "mdc lost client a now");
        assert_eq!(forth["osc gone"], "osc gone");
    }
}
