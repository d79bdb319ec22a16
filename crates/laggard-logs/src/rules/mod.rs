//! Rules for the logs of a file system, one data file each: texts that stand for an error number without saying
//! it, what only sounds like a failure, and how nodes are named.
//! In: a name. Out: [`Rules`]. Always: the rules for kernel messages apply to every file system.

use std::collections::BTreeMap;

use memchr::memmem;
use serde::Deserialize;

use super::LogsError;
use super::parsers::Parser;

/// The rules for one file system.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    pub name: String,
    /// Letters of error numbers that this file system has customised forms of (`h` to `k` of the paper).
    #[serde(default)]
    pub letters: BTreeMap<String, char>,
    /// Texts that stand for an error number.
    #[serde(default, rename = "equivalent")]
    pub equivalents: Vec<Equivalent>,
    /// Failure words beyond those of all file systems; regular expressions, in any case.
    #[serde(default)]
    pub words: Vec<String>,
    /// Phrases with a failure word that do not report a failure.
    #[serde(default)]
    pub ignore_phrases: Vec<String>,
    /// Lines that never report a failure.
    #[serde(default)]
    pub ignore_lines: Vec<String>,
    /// Components of the file system whose messages are also counted separately; the first match counts.
    #[serde(default, rename = "component")]
    pub components: Vec<Component>,
    /// How texts name nodes.
    #[serde(default, rename = "name_of")]
    pub names: Vec<Name>,
}

/// Texts that stand for an error number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equivalent {
    pub errno: u8,
    /// The texts, as regular expressions of any case.
    pub texts: Vec<String>,
}

/// A part of a file system.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    pub name: String,
    /// A regular expression that matches its functions or messages, in any case.
    pub text: String,
}

/// How texts name a node.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Name {
    /// A regular expression whose first group is the number of the node.
    pub text: String,
    /// The node's name; the number is appended.
    pub node: String,
}

const FILES: [&str; 6] = [
    include_str!("linux.toml"),
    include_str!("lustre.toml"),
    include_str!("glusterfs.toml"),
    include_str!("beegfs.toml"),
    include_str!("ceph.toml"),
    include_str!("moosefs.toml"),
];

impl Rules {
    /// Lab adapters such as `gluster-dispersed` use the rules of their file system.
    pub fn named(name: &str) -> Result<Rules, LogsError> {
        let all = read()?;
        let family = name.split('-').next().unwrap_or(name);
        let fits = |rules: &&Rules| {
            rules.name == name || rules.name == family || rules.name == format!("{family}fs")
        };
        match all.iter().find(fits) {
            Some(rules) => Ok(rules.clone()),
            None => Err(LogsError::NoSuchRules {
                name: name.into(),
                known: all.into_iter().map(|rules| rules.name).collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// The name of the rules that fit a log best: by its format, else by the names in its path or first bytes.
    pub fn guessed(parser: Parser, path: &str, start: &[u8]) -> &'static str {
        const HINTS: [(&str, &str); 6] = [
            ("lustre", "lustre"),
            ("beegfs", "beegfs"),
            ("gluster", "glusterfs"),
            ("mfsmaster", "moosefs"),
            ("mfschunkserver", "moosefs"),
            ("mfsmount", "moosefs"),
        ];
        if let Some(rules) = parser.rules() {
            return rules;
        }
        let path = path.to_ascii_lowercase();
        let start = start.to_ascii_lowercase();
        let is_there = |hint: &str| path.contains(hint) || memmem::find(&start, hint.as_bytes()).is_some();
        HINTS.iter().find(|(hint, _)| is_there(hint)).map_or("linux", |(_, rules)| rules)
    }

    pub fn names() -> Result<Vec<String>, LogsError> {
        Ok(read()?.into_iter().map(|rules| rules.name).collect())
    }

    /// Adds the rules for kernel messages, which any log may contain.
    pub(super) fn with_the_kernels(mut self) -> Result<Rules, LogsError> {
        let linux = Rules::named("linux")?;
        if self.name != linux.name {
            self.equivalents.extend(linux.equivalents);
            self.words.extend(linux.words);
            self.ignore_phrases.extend(linux.ignore_phrases);
            self.ignore_lines.extend(linux.ignore_lines);
        }
        Ok(self)
    }
}

fn read() -> Result<Vec<Rules>, LogsError> {
    FILES.iter().map(|text| toml::from_str(text).map_err(LogsError::Rules)).collect()
}
