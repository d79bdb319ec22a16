//! The selection of devices or interfaces: by patterns, or a default.

use globset::{Glob, GlobSet, GlobSetBuilder};

#[derive(Clone, Debug, Default)]
pub struct Selection {
    named: Option<GlobSet>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; write it like sd* or nvme[0-3]n1")]
pub struct SelectionError(globset::Error);

impl Selection {
    /// Without patterns: the default selection.
    pub fn of<P: AsRef<str>>(patterns: &[P]) -> Result<Selection, SelectionError> {
        if patterns.is_empty() {
            return Ok(Selection::default());
        }
        let mut globs = GlobSetBuilder::new();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let name = pattern.strip_prefix("/dev/").unwrap_or(pattern);
            globs.add(Glob::new(name).map_err(SelectionError)?);
        }
        Ok(Selection { named: Some(globs.build().map_err(SelectionError)?) })
    }

    /// None without patterns.
    pub(super) fn names(&self, name: &str) -> Option<bool> {
        self.named.as_ref().map(|globs| globs.is_match(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_may_be_given_as_device_files() {
        let chosen = Selection::of(&["/dev/sd[bc]", "cciss*"]).unwrap();
        for (name, expected) in [("sdb", true), ("sda", false), ("cciss/c0d0", true)] {
            assert_eq!(chosen.names(name), Some(expected), "{name}");
        }
        assert_eq!(Selection::of::<&str>(&[]).unwrap().names("sda"), None);
    }

    #[test]
    fn a_broken_pattern_says_how_to_write_one() {
        let error = Selection::of(&["sd["]).unwrap_err().to_string();
        assert!(error.contains("sd[") && error.contains("write it like"), "{error}");
    }
}
