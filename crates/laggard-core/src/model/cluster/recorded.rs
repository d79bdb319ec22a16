//! Recorded names, and what the cluster file says about them.

use super::super::component::Kind;
use super::file::ClusterFile;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recorded {
    /// For example `oss3:sdb`.
    pub name: String,
    /// The kind of its table.
    pub kind: Kind,
    pub host: String,
}

/// A recorded name, and the entries of the cluster file that match it.
pub(super) struct Placed<'a> {
    pub(super) recorded: &'a Recorded,
    pub(super) ignore: Option<usize>,
    pub(super) rule: Option<usize>,
    /// The rule has the name of the device, or a part of it, and not just `*`.
    pub(super) is_named: bool,
}

impl<'a> Placed<'a> {
    pub(super) fn new(file: &ClusterFile, recorded: &'a Recorded) -> Placed<'a> {
        let ignore = file.ignored.iter().position(|i| i.pattern.matches(&recorded.name));
        let matching = || file.rules.iter().position(|r| r.pattern.matches(&recorded.name));
        let rule = if ignore.is_none() { matching() } else { None };
        let is_named = rule.is_some_and(|at| file.rules[at].pattern.names_device());
        Placed { recorded, ignore, rule, is_named }
    }

    /// The entry of the file that decides.
    pub(super) fn section(&self) -> Option<(&'static str, usize)> {
        self.ignore.map(|at| ("ignore", at)).or(self.rule.map(|at| ("component", at)))
    }

    /// `sdb` for the attachment `oss3:sdb`.
    pub(super) fn device_name(&self) -> Option<&'a str> {
        if self.recorded.kind != Kind::ATTACHMENT {
            return None;
        }
        part_of_host(self.recorded)
    }
}

/// The name without the host's.
pub(super) fn part_of_host(recorded: &Recorded) -> Option<&str> {
    let part = recorded.name.strip_prefix(recorded.host.as_str())?;
    part.char_indices().nth(1).map(|(start, _)| &part[start..])
}
