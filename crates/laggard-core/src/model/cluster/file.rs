//! The cluster file, `cluster.toml`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::component::Kind;
use super::pattern::{Pattern, holes};

/// What a cluster file says. An empty one is valid, and is what holds when there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClusterFile {
    /// The system's name, for reports.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Components are peers if they are equal in all of these attributes.
    pub group_by: Vec<String>,
    /// What is not to be judged.
    #[serde(rename = "ignore", skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<Ignore>,
    /// What recorded names mean. The first rule that matches a name holds.
    #[serde(rename = "component", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
}

/// A name, or many, that nobody wants judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ignore {
    /// Which.
    #[serde(rename = "match")]
    pub pattern: Pattern,
    /// Why; shown by `laggard cluster check`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What recorded names of one shape mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Which recorded names: `oss{n}:dm-{lun}`.
    #[serde(rename = "match")]
    pub pattern: Pattern,
    /// A better name, with the pattern's words filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is, if not what its table says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Attributes, with the pattern's words filled in: `lun = "lun{lun}"`, `priority = 1`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Attribute>,
}

/// An attribute's value: text, or a number written as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a text or a whole number")]
pub enum Attribute {
    /// Text.
    Text(String),
    /// A whole number.
    Number(i64),
}

impl Attribute {
    /// As text.
    pub fn text(&self) -> String {
        match self {
            Attribute::Text(text) => text.clone(),
            Attribute::Number(number) => number.to_string(),
        }
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Attribute {
        Attribute::Text(text)
    }
}

/// A cluster file that cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Not TOML, an unknown key, or a wrong value; the message has the line.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// A hole that the pattern does not have.
    #[error("[[component]] {pattern:?}: {text:?} has {{{hole}}}, which the pattern does not")]
    Hole {
        /// The rule's pattern.
        pattern: String,
        /// The name or attribute.
        text: String,
        /// The word in braces.
        hole: String,
    },
}

impl Default for ClusterFile {
    fn default() -> Self {
        let group_by = ["kind", "priority", "cohort"].map(String::from).to_vec();
        ClusterFile { name: String::new(), group_by, ignored: Vec::new(), rules: Vec::new() }
    }
}

impl ClusterFile {
    /// Reads a cluster file's text.
    pub fn parse(text: &str) -> Result<ClusterFile, ClusterError> {
        let file: ClusterFile = toml::from_str(text)?;
        file.rules.iter().try_for_each(Rule::check)?;
        Ok(file)
    }

    /// The text that [`ClusterFile::parse`] reads.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a cluster file has no map keys but strings")
    }
}

impl Rule {
    /// Every hole of the name and the attributes must be one of the pattern's.
    fn check(&self) -> Result<(), ClusterError> {
        let words = self.pattern.words();
        let texts = self.name.iter().cloned().chain(self.attributes.values().map(Attribute::text));
        for text in texts {
            let unknown = holes(&text).find(|hole| !words.contains(hole)).map(String::from);
            if let Some(hole) = unknown {
                return Err(ClusterError::Hole { pattern: self.pattern.to_string(), text, hole });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_the_default() {
        assert_eq!(ClusterFile::parse("").unwrap(), ClusterFile::default());
    }

    #[test]
    fn a_file_reads_back_as_written() {
        let text = r#"
            name = "scratch"
            group_by = ["kind", "cohort"]
            [[ignore]]
            match = "*:sda"
            reason = "system disk"
            [[component]]
            match = "oss{n}:dm-{lun}"
            name = "lun{lun}@oss{n}"
            attributes = { lun = "lun{lun}", priority = 1 }
        "#;
        let file = ClusterFile::parse(text).unwrap();
        assert_eq!(ClusterFile::parse(&file.to_toml()).unwrap(), file);
    }

    #[test]
    fn a_hole_that_the_pattern_does_not_have_is_refused() {
        let problem =
            ClusterFile::parse("[[component]]\nmatch = 'vm:loop{n}'\nname = 'lun{m}'\n").unwrap_err();
        assert_eq!(
            problem.to_string(),
            r#"[[component]] "vm:loop{n}": "lun{m}" has {m}, which the pattern does not"#
        );
    }

    #[test]
    fn a_wrong_key_or_pattern_is_named_with_its_line() {
        let problem = |text: &str| ClusterFile::parse(text).unwrap_err().to_string();
        let unknown = problem("name = 'x'\ngroups = []\n");
        assert!(unknown.contains("line 2") && unknown.contains("groups"), "{unknown}");
        let pattern = problem("[[component]]\nmatch = 'oss{n'\n");
        assert!(pattern.contains("line 2") && pattern.contains("has no `}`"), "{pattern}");
    }
}
