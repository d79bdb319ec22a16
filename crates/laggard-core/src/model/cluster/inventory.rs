//! The components of a recording, their peer groups, and everything that matches no rule.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use serde::Serialize;

use super::super::component::{Container, Kind, REMOTE_HOST, attachment, link};
use super::super::device::{Device, DeviceClass};
use super::super::host_facts::HostFacts;
use super::FEWEST_PEERS;
use super::file::{ClusterFile, Rule};
use super::left_out::{BlockDevices, LeftOut};
use super::pattern::fill;
use super::recorded::{Placed, Recorded, part_of_host};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Component {
    /// The name in reports.
    pub name: String,
    /// The name in the recording.
    pub recorded: String,
    /// The host that recorded it.
    #[serde(skip)]
    pub host: String,
    pub kind: Kind,
    /// Of a block device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<DeviceClass>,
    /// The recorded names of the devices directly below a block device, as far as they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<String>,
    /// server, device, class, lun, controller, array, priority, cohort, ...
    pub attributes: BTreeMap<String, String>,
}

impl Component {
    /// A component without a server is its own.
    pub fn server(&self) -> &str {
        self.container(Container::Server).unwrap_or(&self.name)
    }

    /// The controller, server, ... that it belongs to.
    pub fn container(&self, container: Container) -> Option<&String> {
        self.attributes.get(container.as_str())
    }

    /// True for a block device without a LUN, controller or array behind it.
    pub fn is_plain_disk(&self) -> bool {
        use Container::{Array, Controller, Drawer, Enclosure, Lun};
        let is_behind = |container| self.container(container).is_some();
        self.kind == Kind::ATTACHMENT
            && ![Array, Controller, Drawer, Enclosure, Lun].into_iter().any(is_behind)
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
    /// Block devices that are not peers of disks, ordered by recorded name.
    pub left_out: Vec<LeftOut>,
    /// Indices of components that match no rule, if the file has rules.
    pub unruled: Vec<usize>,
    pub unmatched: Vec<Unmatched>,
    /// Attributes in `group_by` that no component has, except the default ones.
    pub unknown_attributes: Vec<String>,
    /// Names of more than one component.
    pub twice: Vec<String>,
    /// A cluster file states roles and groups.
    pub is_stated: bool,
}

impl PeerGroup {
    /// There are enough members to compare.
    pub fn is_evaluated(&self) -> bool {
        self.members.len() >= FEWEST_PEERS
    }
}

impl Inventory {
    /// The host of each component, by its recorded name.
    pub fn hosts(&self) -> HashMap<Arc<str>, Arc<str>> {
        self.components.iter().map(|c| (c.recorded.as_str().into(), c.host.as_str().into())).collect()
    }

    /// The components of hosts of which only samples are known.
    pub fn new(file: &ClusterFile, recorded: &[Recorded]) -> Inventory {
        Inventory::with_facts(file, recorded, &BTreeMap::new())
    }

    /// The components of hosts with recorded facts, by host.
    pub fn with_facts(
        file: &ClusterFile,
        recorded: &[Recorded],
        facts: &BTreeMap<&str, &HostFacts>,
    ) -> Inventory {
        let mut inventory = Inventory::default();
        let mut matched = BTreeSet::new();
        let distinct: BTreeSet<&Recorded> = recorded.iter().collect();
        let placed: Vec<Placed> = distinct.into_iter().map(|recorded| Placed::new(file, recorded)).collect();
        let devices = BlockDevices::new(&placed, facts);
        let mut has_stated_group = Vec::new();
        for one in &placed {
            match one.section() {
                Some(section) => _ = matched.insert(section),
                None if !file.rules.is_empty() && devices.left_out(one).is_none() => {
                    inventory.unruled.push(inventory.components.len());
                }
                None => {}
            }
            if let Some(at) = one.ignore {
                inventory.ignored.push((one.recorded.name.clone(), file.ignored[at].reason.clone()));
            } else if let Some(left_out) = devices.left_out(one) {
                inventory.left_out.push(left_out);
            } else {
                let rule = one.rule.map(|at| &file.rules[at]);
                inventory.components.push(component(one.recorded, devices.device(one), rule));
                has_stated_group.push(rule.is_some_and(|rule| states_group(rule, &file.group_by)));
            }
        }
        name_far_ends(&mut inventory.components, facts);
        inventory.groups = groups(&file.group_by, &inventory.components, &has_stated_group);
        inventory.unmatched = unmatched(file, &matched);
        inventory.unknown_attributes = unknown_attributes(&file.group_by, &inventory.components);
        inventory.twice = twice(&inventory.components);
        inventory.is_stated = !file.rules.is_empty() || file.group_by != ClusterFile::default().group_by;
        inventory
    }
}

/// Adds the host at the far end of each link, where it recorded its addresses. A link that has only its recorded name, and is
/// the only one between its hosts, is named after both.
fn name_far_ends(components: &mut [Component], facts: &BTreeMap<&str, &HostFacts>) {
    let mut hosts: BTreeMap<IpAddr, Vec<&str>> = BTreeMap::new();
    for (host, facts) in facts {
        facts.addresses.iter().for_each(|address| hosts.entry(*address).or_default().push(host));
    }
    let far_host = |component: &Component| {
        let address = component.recorded.split_once('>')?.1.parse().ok()?;
        // Several hosts may use one private address.
        let [host] = hosts.get(&address)?[..] else { return None };
        (component.kind == Kind::LINK && host != component.host).then(|| host.to_owned())
    };
    let far: Vec<Option<String>> = components.iter().map(far_host).collect();
    let mut links: BTreeMap<String, usize> = BTreeMap::new();
    for (component, far) in components.iter().zip(&far) {
        let both = far.iter().map(|far| link(&component.host, far));
        both.for_each(|name| *links.entry(name).or_default() += 1);
    }
    for (component, far) in components.iter_mut().zip(far) {
        let Some(far) = far else { continue };
        let name = link(&component.host, &far);
        if component.name == component.recorded && links[&name] == 1 {
            component.name = name;
        }
        component.attributes.insert(REMOTE_HOST.into(), far);
    }
}

/// True if a rule names a device and says which group it belongs to: then its class does not.
fn states_group(rule: &Rule, group_by: &[String]) -> bool {
    rule.pattern.names_device()
        && !rule.attributes.contains_key(CLASS)
        && rule.attributes.keys().any(|attribute| group_by.contains(attribute))
}

fn component(recorded: &Recorded, device: Option<&Device>, rule: Option<&Rule>) -> Component {
    let class = device.map(|device| device.class);
    let below = device.map(|device| device.below.as_slice()).unwrap_or_default();
    let mut component = Component {
        name: recorded.name.clone(),
        recorded: recorded.name.clone(),
        host: recorded.host.clone(),
        kind: recorded.kind.clone(),
        class,
        below: below.iter().map(|name| attachment(&recorded.host, name)).collect(),
        attributes: BTreeMap::from([(Container::Server.as_str().into(), recorded.host.clone())]),
    };
    if let Some(part) = part_of_host(recorded) {
        component.attributes.insert("device".into(), part.to_owned());
    }
    if let Some(class) = class.filter(|class| *class != DeviceClass::Unknown) {
        component.attributes.insert(CLASS.into(), class.to_string());
    }
    if let Some(rule) = rule {
        apply(rule, &mut component);
    }
    component
}

/// The attribute with the class of a block device.
const CLASS: &str = "class";

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
fn groups(group_by: &[String], components: &[Component], has_stated_group: &[bool]) -> Vec<PeerGroup> {
    let mut members: BTreeMap<GroupKey, Vec<usize>> = BTreeMap::new();
    for (index, component) in components.iter().enumerate() {
        let counts = |a: &&String| a.as_str() != CLASS || !has_stated_group[index];
        let value = |a: &str| component.attributes.get(a).map(String::as_str);
        let key = group_by.iter().filter(counts).filter_map(|a| Some((a.as_str(), value(a)?))).collect();
        members.entry((component.kind.clone(), key)).or_default().push(index);
    }
    let mut classes: BTreeMap<GroupKey, usize> = BTreeMap::new();
    for key in members.keys() {
        *classes.entry(without_class(key)).or_default() += 1;
    }
    let names: Vec<String> =
        members
            .keys()
            .map(|key| {
                if classes[&without_class(key)] > 1 {
                    group_name(key)
                } else {
                    group_name(&without_class(key))
                }
            })
            .collect();
    let mut groups: Vec<PeerGroup> = members
        .into_iter()
        .zip(names)
        .map(|(((kind, _), members), name)| PeerGroup { name, kind, members })
        .collect();
    groups.sort_by(|a, b| (&a.kind, &a.name).cmp(&(&b.kind, &b.name)));
    groups
}

/// The class is part of a name only where it tells groups apart.
fn without_class<'a>((kind, key): &GroupKey<'a>) -> GroupKey<'a> {
    (kind.clone(), key.iter().filter(|(attribute, _)| *attribute != CLASS).copied().collect())
}

fn group_name((kind, key): &GroupKey) -> String {
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
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    use super::super::super::host_facts::DeviceFacts;
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

    /// `attachment cohort=x: a:sda a:sdb`.
    fn grouped(inventory: &Inventory) -> Vec<String> {
        named(inventory).iter().map(|(group, members)| format!("{group}: {}", members.join(" "))).collect()
    }

    fn left_out(inventory: &Inventory) -> Vec<String> {
        inventory.left_out.iter().map(|one| format!("{}: {one}", one.name)).collect()
    }

    #[test]
    fn classes_are_not_peers_of_each_other() {
        let names = [
            "a:md127",
            "a:nvme0n1",
            "a:nvme0n1p2",
            "a:sda",
            "a:sda5",
            "a:sdc1",
            "a:sr0",
            "a:loop0",
            "a:vg-lv",
        ];
        let inventory = Inventory::new(&ClusterFile::default(), &disks(&names));
        assert_eq!(
            named(&inventory),
            [
                ("attachment class=disk".into(), vec!["a:sda", "a:sdc1"]),
                ("attachment class=nvme".into(), vec!["a:nvme0n1"])
            ]
        );
        assert_eq!(
            left_out(&inventory),
            [
                "a:loop0: a loop device",
                "a:md127: a volume",
                "a:nvme0n1p2: a partition of a:nvme0n1",
                "a:sda5: a partition of a:sda",
                "a:sr0: an optical drive",
                "a:vg-lv: a volume",
            ]
        );
    }

    #[test]
    fn a_device_that_a_rule_names_is_compared() {
        let names = ["a:sda", "a:sda5", "a:loop0", "b:loop1", "b:sda"];
        let groups =
            |text: &str| grouped(&Inventory::new(&ClusterFile::parse(text).unwrap(), &disks(&names)));
        let stated = "[[component]]\nmatch = '*:{d}a'\nattributes = { cohort = 'x' }\n\
                      [[component]]\nmatch = '*:loop{n}'\nattributes = { cohort = 'x' }\n";
        assert_eq!(groups(stated), ["attachment cohort=x: a:loop0 a:sda b:loop1 b:sda"]);
        let renamed = "[[component]]\nmatch = '*:sda5'\nname = 'brick'\n";
        assert!(groups(renamed).contains(&"attachment class=partition: brick".into()));
        let everything = "[[component]]\nmatch = '{host}:{device}'\nattributes = { cohort = 'x' }\n";
        assert_eq!(groups(everything), ["attachment cohort=x: a:sda b:sda"]);
    }

    #[test]
    fn volumes_and_loop_devices_are_compared_on_hosts_that_have_nothing_else() {
        let names = ["a:loop3", "b:loop1", "b:sr0", "c:dm-0", "c:dm-1", "d:dm-0", "d:vda"];
        let inventory = Inventory::new(&ClusterFile::default(), &disks(&names));
        assert_eq!(
            named(&inventory),
            [
                ("attachment class=dm".into(), vec!["c:dm-0", "c:dm-1"]),
                ("attachment class=loop".into(), vec!["a:loop3", "b:loop1"]),
                ("attachment class=virtual-disk".into(), vec!["d:vda"]),
            ]
        );
        let file = ClusterFile::parse("[[ignore]]\nmatch = '*:vda'\n").unwrap();
        let inventory = Inventory::new(&file, &disks(&names));
        assert!(named(&inventory)[0].1.contains(&"d:dm-0"), "what is ignored is not compared instead");
    }

    #[test]
    fn a_stacked_device_is_not_a_peer_of_what_is_below_it() {
        let device = |name: &str, below: &[&str]| {
            let stacked_on = below.iter().map(|name| (*name).into()).collect();
            let mapper_name = Some(format!("vg-{name}"));
            let facts = DeviceFacts { name: name.into(), stacked_on, mapper_name, ..DeviceFacts::default() };
            (name.to_owned(), facts)
        };
        let devices = [device("dm-0", &["sda"]), device("dm-1", &["dm-0"]), device("dm-2", &["dm-1"])];
        let facts = HostFacts { devices: devices.into(), ..HostFacts::default() };
        let recorded = disks(&["a:dm-0", "a:dm-2"]);
        let inventory = Inventory::with_facts(&ClusterFile::default(), &recorded, &[("a", &facts)].into());
        assert_eq!(named(&inventory), [("attachment".into(), vec!["a:dm-0"])]);
        assert_eq!(left_out(&inventory), ["a:dm-2: stacked on a:dm-0"]);
    }

    #[test]
    fn recorded_media_split_groups_unless_the_file_groups_otherwise() {
        let disk = |name: &str, rotational| {
            let facts =
                DeviceFacts { name: name.into(), rotational: Some(rotational), ..DeviceFacts::default() };
            (name.to_owned(), facts)
        };
        let facts =
            HostFacts { devices: [disk("sda", true), disk("sdb", false)].into(), ..HostFacts::default() };
        let groups = |text: &str| {
            let file = ClusterFile::parse(text).unwrap();
            grouped(&Inventory::with_facts(&file, &disks(&["a:sda", "a:sdb"]), &[("a", &facts)].into()))
        };
        assert_eq!(groups(""), ["attachment class=flash: a:sdb", "attachment class=hard-disk: a:sda"]);
        assert_eq!(groups("group_by = ['kind']"), ["attachment: a:sda a:sdb"]);
    }

    proptest! {
        /// Every recorded name is in one group, ignored, or left out.
        #[test]
        fn no_name_is_lost(names in prop::collection::btree_set("[ab]:(sd[ab][12]?|dm-[01]|loop[0-2]|sr0|x-y|nvme0n1(p1)?)", 1..12)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let file = ClusterFile::parse("[[ignore]]\nmatch = 'b:sda'\n[[component]]\nmatch = 'a:dm-{n}'\n").unwrap();
            let inventory = Inventory::new(&file, &disks(&names));
            let grouped: usize = inventory.groups.iter().map(|group| group.members.len()).sum();
            prop_assert_eq!(grouped, inventory.components.len());
            prop_assert_eq!(grouped + inventory.ignored.len() + inventory.left_out.len(), names.len());
        }

        /// Members of a group that no rule states have one class.
        #[test]
        fn a_group_has_one_class(names in prop::collection::btree_set("[abc]:(sd[ab]|vda|dm-[01]|loop[0-2]|sr0|nvme0n1)", 1..12)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let inventory = Inventory::new(&ClusterFile::default(), &disks(&names));
            for group in &inventory.groups {
                let classes: BTreeSet<_> = group.members.iter().map(|&m| inventory.components[m].class).collect();
                prop_assert_eq!(classes.len(), 1);
            }
        }
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

    #[test]
    fn a_link_is_named_after_the_host_that_has_the_address() {
        let link = |name: &str| Recorded { name: name.into(), kind: Kind::LINK, host: name[..2].into() };
        let recorded = ["c1>10.0.0.1", "c1>10.0.0.2", "c1>10.0.0.3", "c2>10.0.0.1", "c2>10.0.0.9"].map(link);
        let host = |last: &[u8]| HostFacts {
            addresses: last.iter().map(|last| IpAddr::from([10, 0, 0, *last])).collect(),
            ..HostFacts::default()
        };
        // s2 has two addresses, and two hosts have the last one.
        let facts = [("s1", host(&[1])), ("s2", host(&[2, 3])), ("x", host(&[9])), ("y", host(&[9]))];
        let facts = facts.iter().map(|(name, facts)| (*name, facts)).collect();
        let inventory = Inventory::with_facts(&ClusterFile::default(), &recorded, &facts);
        let far = |component: &Component| component.attributes.get(REMOTE_HOST).cloned().unwrap_or_default();
        let named: Vec<(&str, String)> =
            inventory.components.iter().map(|component| (component.name.as_str(), far(component))).collect();
        let expected = [
            ("c1>s1", "s1"),
            ("c1>10.0.0.2", "s2"),
            ("c1>10.0.0.3", "s2"),
            ("c2>s1", "s1"),
            ("c2>10.0.0.9", ""),
        ];
        assert_eq!(named, expected.map(|(name, far)| (name, far.to_owned())));
    }
}
