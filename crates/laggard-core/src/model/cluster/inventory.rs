//! The components of a recording, their peer groups, and everything that matches no rule.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::super::component::Kind;
use super::FEWEST_PEERS;
use super::file::{ClusterFile, Rule};
use super::pattern::fill;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recorded {
    /// For example `oss3:sdb`.
    pub name: String,
    /// The kind of its table.
    pub kind: Kind,
    pub host: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Component {
    /// The name in reports.
    pub name: String,
    /// The name in the recording.
    pub recorded: String,
    pub kind: Kind,
    /// server, device, lun, controller, array, priority, cohort, ...
    pub attributes: BTreeMap<String, String>,
}

impl Component {
    /// A component without a server is its own.
    pub fn server(&self) -> &str {
        self.attributes.get("server").unwrap_or(&self.name)
    }
}

/// Components that should behave alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerGroup {
    /// Kind and common attributes: `attachment priority=1 cohort=old`.
    pub name: String,
    pub kind: Kind,
    /// Indices of components, in the order of their names.
    pub members: Vec<usize>,
}

/// An entry of the cluster file that matches no recorded name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// `component` or `ignore`.
    pub section: &'static str,
    pub pattern: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// All components that are not ignored, ordered by recorded name.
    pub components: Vec<Component>,
    /// Ordered by name.
    pub groups: Vec<PeerGroup>,
    /// Ignored recorded names, with the reason.
    pub ignored: Vec<(String, String)>,
    /// Indices of components that match no rule, if the file has rules.
    pub unruled: Vec<usize>,
    pub unmatched: Vec<Unmatched>,
    /// Attributes in `group_by` that no component has, except the default ones.
    pub unknown_attributes: Vec<String>,
    /// Names of more than one component.
    pub twice: Vec<String>,
}

impl PeerGroup {
    /// There are enough members to compare.
    pub fn is_evaluated(&self) -> bool {
        self.members.len() >= FEWEST_PEERS
    }
}

impl Inventory {
    pub fn new(file: &ClusterFile, recorded: &[Recorded]) -> Inventory {
        let mut inventory = Inventory::default();
        let mut matched = BTreeSet::new();
        let distinct: BTreeSet<&Recorded> = recorded.iter().collect();
        let disks: BTreeSet<&str> =
            distinct.iter().filter(|r| r.kind == Kind::ATTACHMENT).map(|r| r.name.as_str()).collect();
        for recorded in distinct {
            let is_ruled = file.rules.iter().any(|rule| rule.pattern.matches(&recorded.name));
            match whole_disk(recorded, &disks) {
                Some(disk) if !is_ruled => {
                    inventory.ignored.push((recorded.name.clone(), format!("a partition of {disk}")))
                }
                _ => inventory.place(file, recorded, &mut matched),
            }
        }
        inventory.groups = groups(&file.group_by, &inventory.components);
        inventory.unmatched = unmatched(file, &matched);
        inventory.unknown_attributes = unknown_attributes(&file.group_by, &inventory.components);
        inventory.twice = twice(&inventory.components);
        inventory
    }

    fn place(
        &mut self,
        file: &ClusterFile,
        recorded: &Recorded,
        matched: &mut BTreeSet<(&'static str, usize)>,
    ) {
        if let Some(at) = file.ignored.iter().position(|i| i.pattern.matches(&recorded.name)) {
            matched.insert(("ignore", at));
            self.ignored.push((recorded.name.clone(), file.ignored[at].reason.clone()));
            return;
        }
        let rule = file.rules.iter().position(|r| r.pattern.matches(&recorded.name));
        match rule {
            Some(at) => _ = matched.insert(("component", at)),
            None if !file.rules.is_empty() => self.unruled.push(self.components.len()),
            None => {}
        }
        self.components.push(component(recorded, rule.map(|at| &file.rules[at])));
    }
}

/// The disk of a recorded partition, if it is recorded as well: the kernel counts the requests twice.
fn whole_disk<'a>(recorded: &'a Recorded, disks: &BTreeSet<&str>) -> Option<&'a str> {
    let name = recorded.name.as_str();
    let disk = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if recorded.kind != Kind::ATTACHMENT || disk.len() == name.len() {
        return None;
    }
    // `sda5` is of `sda`, `nvme0n1p2` of `nvme0n1`; `md127` is not a partition.
    let ends_in_digit = |name: &str| name.ends_with(|c: char| c.is_ascii_digit());
    let disk = match disk.strip_suffix('p') {
        Some(numbered) if ends_in_digit(numbered) => numbered,
        _ => disk,
    };
    disks.contains(disk).then_some(disk)
}

fn component(recorded: &Recorded, rule: Option<&Rule>) -> Component {
    let mut component = Component {
        name: recorded.name.clone(),
        recorded: recorded.name.clone(),
        kind: recorded.kind.clone(),
        attributes: BTreeMap::from([("server".into(), recorded.host.clone())]),
    };
    if let Some(part) = recorded.name.strip_prefix(recorded.host.as_str()).filter(|part| part.len() > 1) {
        component.attributes.insert("device".into(), part[1..].to_owned());
    }
    if let Some(rule) = rule {
        apply(rule, &mut component);
    }
    component
}

fn apply(rule: &Rule, component: &mut Component) {
    let captures = rule.pattern.captures(&component.recorded).unwrap_or_default();
    for (attribute, value) in &rule.attributes {
        component.attributes.insert(attribute.clone(), fill(&value.text(), &captures));
    }
    if let Some(name) = &rule.name {
        component.name = fill(name, &captures);
    }
    if let Some(kind) = &rule.kind {
        component.kind = kind.clone();
    }
}

/// Kind and attributes of a group.
type GroupKey<'a> = (Kind, Vec<(&'a str, &'a str)>);

/// Components of one kind with equal attributes; components without an attribute are equal in it.
fn groups(group_by: &[String], components: &[Component]) -> Vec<PeerGroup> {
    let mut members: BTreeMap<GroupKey, Vec<usize>> = BTreeMap::new();
    for (index, component) in components.iter().enumerate() {
        let value = |a: &str| component.attributes.get(a).map(String::as_str);
        let key = group_by.iter().filter_map(|a| Some((a.as_str(), value(a)?))).collect();
        members.entry((component.kind.clone(), key)).or_default().push(index);
    }
    members
        .into_iter()
        .map(|((kind, key), members)| PeerGroup { name: group_name(&kind, &key), kind, members })
        .collect()
}

fn group_name(kind: &Kind, key: &[(&str, &str)]) -> String {
    key.iter().fold(kind.to_string(), |name, (attribute, value)| format!("{name} {attribute}={value}"))
}

fn unknown_attributes(group_by: &[String], components: &[Component]) -> Vec<String> {
    let default = ClusterFile::default().group_by;
    let has = |a: &String| components.iter().any(|c| c.attributes.contains_key(a));
    group_by.iter().filter(|a| !default.contains(a) && !has(a)).cloned().collect()
}

fn twice(components: &[Component]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let again = components.iter().filter(|c| !seen.insert((&c.kind, &c.name)));
    again.map(|c| c.name.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

fn unmatched(file: &ClusterFile, matched: &BTreeSet<(&'static str, usize)>) -> Vec<Unmatched> {
    let ignores = file.ignored.iter().map(|i| ("ignore", i.pattern.as_str())).enumerate();
    let rules = file.rules.iter().map(|r| ("component", r.pattern.as_str())).enumerate();
    let lost = ignores.chain(rules).filter(|(at, (section, _))| !matched.contains(&(*section, *at)));
    lost.map(|(_, (section, pattern))| Unmatched { section, pattern: pattern.into() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disks(names: &[&str]) -> Vec<Recorded> {
        let recorded = |name: &&str| Recorded {
            name: (*name).into(),
            kind: Kind::ATTACHMENT,
            host: name.rsplit_once(':').unwrap().0.into(),
        };
        names.iter().map(recorded).collect()
    }

    fn named(inventory: &Inventory) -> Vec<(String, Vec<&str>)> {
        let member = |&i: &usize| inventory.components[i].name.as_str();
        inventory.groups.iter().map(|g| (g.name.clone(), g.members.iter().map(member).collect())).collect()
    }

    #[test]
    fn without_a_file_all_disks_are_peers() {
        let inventory = Inventory::new(&ClusterFile::default(), &disks(&["b:sda", "a:sda", "a:sdb"]));
        assert_eq!(named(&inventory), [("attachment".into(), vec!["a:sda", "a:sdb", "b:sda"])]);
        assert!(inventory.groups[0].is_evaluated());
        assert_eq!(inventory.components[1].attributes["device"], "sdb");
    }

    #[test]
    fn partitions_are_not_peers_of_whole_disks_unless_the_file_has_a_rule() {
        let names = ["a:md127", "a:nvme0n1", "a:nvme0n1p2", "a:sda", "a:sda5", "a:sdc1"];
        let inventory = Inventory::new(&ClusterFile::default(), &disks(&names));
        assert_eq!(
            named(&inventory),
            [("attachment".into(), vec!["a:md127", "a:nvme0n1", "a:sda", "a:sdc1"])]
        );
        let parts = [("a:nvme0n1p2", "a partition of a:nvme0n1"), ("a:sda5", "a partition of a:sda")];
        assert_eq!(inventory.ignored, parts.map(|(name, reason)| (name.into(), reason.into())));
        let file = ClusterFile::parse("[[component]]\nmatch = '*:sda5'\nname = 'brick'\n").unwrap();
        assert!(Inventory::new(&file, &disks(&names)).components.iter().any(|c| c.name == "brick"));
    }

    #[test]
    fn attributes_split_groups_and_rules_rename_components() {
        let file = ClusterFile::parse(
            r#"
            [[ignore]]
            match = "*:sda"
            reason = "system disk"
            [[component]]
            match = "oss{n}:dm-{lun}"
            name = "lun{lun}@oss{n}"
            attributes = { priority = "{n}" }
            "#,
        );
        let recorded = disks(&["oss1:dm-7", "oss2:dm-7", "oss1:dm-8", "oss1:sda", "oss1:sdq"]);
        let inventory = Inventory::new(&file.unwrap(), &recorded);
        assert_eq!(
            named(&inventory),
            [
                ("attachment".into(), vec!["oss1:sdq"]),
                ("attachment priority=1".into(), vec!["lun7@oss1", "lun8@oss1"]),
                ("attachment priority=2".into(), vec!["lun7@oss2"]),
            ]
        );
        assert_eq!(inventory.ignored, [("oss1:sda".into(), "system disk".into())]);
        let unruled: Vec<&str> =
            inventory.unruled.iter().map(|&i| inventory.components[i].name.as_str()).collect();
        assert_eq!(unruled, ["oss1:sdq"]);
    }

    #[test]
    fn a_rule_that_matches_nothing_is_reported() {
        let file = ClusterFile::parse("[[component]]\nmatch = 'oss9:sdb'\n").unwrap();
        let inventory = Inventory::new(&file, &disks(&["oss1:sdb"]));
        assert_eq!(inventory.unmatched, [Unmatched { section: "component", pattern: "oss9:sdb".into() }]);
    }

    #[test]
    fn unknown_attributes_and_duplicate_names_are_reported() {
        let file = ClusterFile::parse(
            "group_by = ['kind', 'sever']\n[[component]]\nmatch = '*:sd*'\nname = 'disk'\n",
        );
        let inventory = Inventory::new(&file.unwrap(), &disks(&["a:sda", "b:sda"]));
        assert_eq!(inventory.unknown_attributes, ["sever"]);
        assert_eq!(inventory.twice, ["disk"]);
    }

    #[test]
    fn the_disks_of_each_host_can_be_peers() {
        let file = ClusterFile::parse("group_by = ['kind', 'server']").unwrap();
        let inventory = Inventory::new(&file, &disks(&["c/h1:d1", "c/h2:d1", "c/h1:d2"]));
        let names: Vec<&str> = inventory.groups.iter().map(|g| g.name.as_str()).collect();
        assert_eq!(names, ["attachment server=c/h1", "attachment server=c/h2"]);
    }
}
