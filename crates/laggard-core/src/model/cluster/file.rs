//! The cluster file, `cluster.toml`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::component::Kind;
use super::pattern::{Pattern, holes};

/// An empty file is valid and equals the default without a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClusterFile {
    /// The name of the system, for reports.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Components are peers if all of these attributes are equal.
    pub group_by: Vec<String>,
    #[serde(rename = "ignore", skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<Ignore>,
    /// Rules for recorded names. The first rule that matches a name applies.
    #[serde(rename = "component", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
}

/// Names that are not evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ignore {
    #[serde(rename = "match")]
    pub pattern: Pattern,
    /// Shown by `laggard cluster check`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// A rule for the recorded names that match a pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// For example `oss{n}:dm-{lun}`.
    #[serde(rename = "match")]
    pub pattern: Pattern,
    /// A better name, with the captured words filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The default is the kind of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// With the captured words filled in: `lun = "lun{lun}"`, `priority = 1`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Attribute>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a text or a whole number")]
pub enum Attribute {
    Text(String),
    Number(i64),
}

impl Attribute {
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

#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Not TOML, an unknown key, or a wrong value. The message contains the line.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    #[error("[[component]] {pattern:?}: {text:?} has {{{hole}}}, which the pattern does not")]
    Hole { pattern: String, text: String, hole: String },
}

impl Default for ClusterFile {
    fn default() -> Self {
        let group_by = ["kind", "priority", "cohort", "class"].map(String::from).to_vec();
        ClusterFile { name: String::new(), group_by, ignored: Vec::new(), rules: Vec::new() }
    }
}

impl ClusterFile {
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
    /// Every word in braces must be captured by the pattern.
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
