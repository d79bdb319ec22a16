//! Properties of a recorded host that rarely change: block devices, network interfaces, addresses, listening TCP ports.
//! In: snapshots of a running host, or changes read from a dataset. Out: [`HostFacts`], [`RecordedHost`].

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::time::Timestamp;

/// Everything known about a host at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostFacts {
    /// By name: `sda`, `sda1`, `dm-0`.
    pub devices: BTreeMap<String, DeviceFacts>,
    pub interfaces: BTreeMap<String, InterfaceFacts>,
    /// Without those that are only valid within the host or on one of its links.
    pub addresses: BTreeSet<IpAddr>,
    /// By number.
    pub ports: BTreeMap<u16, PortFacts>,
}

/// A block device, as `/sys/block` describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceFacts {
    pub name: String,
    /// Major and minor number: `8:16`.
    pub number: String,
    pub size_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    pub removable: bool,
    /// A path of a multipath device, which has no device node: `nvme0c0n1`.
    #[serde(skip_serializing_if = "is_false")]
    pub hidden: bool,
    /// The devices directly below: members of a RAID, physical volumes, paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stacked_on: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_of: Option<String>,
    /// The device-mapper name: `rootvg-home`, `mpatha`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapper_name: Option<String>,
    /// The owner of a device-mapper device: `LVM`, `mpath`, `CRYPT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapper_kind: Option<String>,
    /// The file behind a loop device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backing_file: Option<String>,
}

/// The bus or protocol that a block device is attached by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    Sata,
    Sas,
    /// SCSI behind a controller that does not tell more.
    Scsi,
    Nvme,
    Virtio,
    Xen,
    /// Hyper-V.
    Vmbus,
    Usb,
    Mmc,
    Loop,
    Iscsi,
    Fc,
    /// A transport that this version does not know.
    #[serde(other)]
    Other,
}

impl Transport {
    pub fn as_str(self) -> &'static str {
        match self {
            Transport::Sata => "sata",
            Transport::Sas => "sas",
            Transport::Scsi => "scsi",
            Transport::Nvme => "nvme",
            Transport::Virtio => "virtio",
            Transport::Xen => "xen",
            Transport::Vmbus => "vmbus",
            Transport::Usb => "usb",
            Transport::Mmc => "mmc",
            Transport::Loop => "loop",
            Transport::Iscsi => "iscsi",
            Transport::Fc => "fc",
            Transport::Other => "other",
        }
    }
}

/// A network interface, as `/sys/class/net` describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InterfaceFacts {
    pub name: String,
    /// None where the driver does not report it, as of many virtual interfaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_mbit_per_second: Option<u64>,
    /// Backed by a device of its own; false for bridges, bonds, VLANs and tunnels.
    pub physical: bool,
    /// `up`, `down`, `unknown`, ...
    #[serde(skip_serializing_if = "String::is_empty")]
    pub state: String,
    /// The hardware type of the kernel (`ARPHRD_*`): 1 is Ethernet, 32 InfiniBand, 772 loopback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware_type: Option<u16>,
}

/// A TCP port on which a process of the host accepts connections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PortFacts {
    pub number: u16,
    /// The process, if the recorder may see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Only from within the host.
    #[serde(skip_serializing_if = "is_false")]
    pub loopback_only: bool,
}

/// Identifies a device, interface or port of a host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    Device(String),
    Interface(String),
    Address(IpAddr),
    Port(u16),
}

/// A change of a host's facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// New, or different from before.
    Device(DeviceFacts),
    Interface(InterfaceFacts),
    Address(IpAddr),
    Port(PortFacts),
    Gone(Item),
}

impl HostFacts {
    /// The changes that turn these facts into `newer`.
    pub fn changes_to(&self, newer: &HostFacts) -> Vec<Change> {
        let mut changes = Vec::new();
        changes.extend(changed(&self.devices, &newer.devices, Change::Device));
        changes.extend(changed(&self.interfaces, &newer.interfaces, Change::Interface));
        changes.extend(newer.addresses.difference(&self.addresses).copied().map(Change::Address));
        changes.extend(changed(&self.ports, &newer.ports, Change::Port));
        changes.extend(gone(&self.devices, &newer.devices, Item::Device));
        changes.extend(gone(&self.interfaces, &newer.interfaces, Item::Interface));
        let lost = self.addresses.difference(&newer.addresses);
        changes.extend(lost.map(|address| Change::Gone(Item::Address(*address))));
        changes.extend(gone(&self.ports, &newer.ports, Item::Port));
        changes
    }

    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Device(facts) => _ = self.devices.insert(facts.name.clone(), facts),
            Change::Interface(facts) => _ = self.interfaces.insert(facts.name.clone(), facts),
            Change::Address(address) => _ = self.addresses.insert(address),
            Change::Port(facts) => _ = self.ports.insert(facts.number, facts),
            Change::Gone(Item::Device(name)) => _ = self.devices.remove(&name),
            Change::Gone(Item::Interface(name)) => _ = self.interfaces.remove(&name),
            Change::Gone(Item::Address(address)) => _ = self.addresses.remove(&address),
            Change::Gone(Item::Port(number)) => _ = self.ports.remove(&number),
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == HostFacts::default()
    }

    /// A device by its kernel name or its device-mapper name.
    pub fn device(&self, name: &str) -> Option<&DeviceFacts> {
        let is_mapped = |device: &&DeviceFacts| device.mapper_name.as_deref() == Some(name);
        self.devices.get(name).or_else(|| self.devices.values().find(is_mapped))
    }

    fn items(&self) -> impl Iterator<Item = Item> {
        let devices = self.devices.keys().cloned().map(Item::Device);
        let interfaces = self.interfaces.keys().cloned().map(Item::Interface);
        let addresses = self.addresses.iter().copied().map(Item::Address);
        devices.chain(interfaces).chain(addresses).chain(self.ports.keys().copied().map(Item::Port))
    }

    fn has(&self, item: &Item) -> bool {
        match item {
            Item::Device(name) => self.devices.contains_key(name),
            Item::Interface(name) => self.interfaces.contains_key(name),
            Item::Address(address) => self.addresses.contains(address),
            Item::Port(number) => self.ports.contains_key(number),
        }
    }
}

fn changed<K: Ord, V: Clone + PartialEq>(
    before: &BTreeMap<K, V>,
    after: &BTreeMap<K, V>,
    change: fn(V) -> Change,
) -> Vec<Change> {
    let is_new = |(key, value): &(&K, &V)| before.get(key) != Some(value);
    after.iter().filter(is_new).map(|(_, value)| change(value.clone())).collect()
}

fn gone<K: Ord + Clone, V>(
    before: &BTreeMap<K, V>,
    after: &BTreeMap<K, V>,
    item: fn(K) -> Item,
) -> Vec<Change> {
    let lost = before.keys().filter(|key| !after.contains_key(key));
    lost.map(|key| Change::Gone(item(key.clone()))).collect()
}

/// The facts of a host over the time of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedHost {
    /// The last known facts, also of items that are gone: they may have samples.
    pub facts: HostFacts,
    /// When items that were not there from the start were first seen.
    pub appeared: BTreeMap<Item, Timestamp>,
    /// When items that are gone were first missed.
    pub gone: BTreeMap<Item, Timestamp>,
}

impl RecordedHost {
    /// A recorder started: `snapshot` is all that is there.
    pub fn start(&mut self, time: Timestamp, snapshot: HostFacts) {
        let missing: Vec<Item> = self.facts.items().filter(|item| !snapshot.has(item)).collect();
        missing.into_iter().for_each(|item| self.miss(time, item));
        if self.facts.is_empty() {
            self.facts = snapshot;
            return;
        }
        HostFacts::default().changes_to(&snapshot).into_iter().for_each(|change| self.change(time, change));
    }

    pub fn change(&mut self, time: Timestamp, change: Change) {
        let item = match &change {
            Change::Device(facts) => Item::Device(facts.name.clone()),
            Change::Interface(facts) => Item::Interface(facts.name.clone()),
            Change::Address(address) => Item::Address(*address),
            Change::Port(facts) => Item::Port(facts.number),
            Change::Gone(item) => return self.miss(time, item.clone()),
        };
        let returns = self.gone.remove(&item).is_some();
        if returns || !self.facts.has(&item) {
            self.appeared.insert(item, time);
        }
        self.facts.apply(change);
    }

    fn miss(&mut self, time: Timestamp, item: Item) {
        if self.facts.has(&item) {
            self.gone.entry(item).or_insert(time);
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{Strategy, prop, prop_assert_eq, proptest};

    fn disk(name: &str, size_bytes: u64) -> DeviceFacts {
        DeviceFacts { name: name.into(), size_bytes, ..DeviceFacts::default() }
    }

    fn host(disks: &[(&str, u64)], ports: &[u16]) -> HostFacts {
        HostFacts {
            devices: disks.iter().map(|(name, size)| ((*name).into(), disk(name, *size))).collect(),
            ports: ports
                .iter()
                .map(|&number| (number, PortFacts { number, ..PortFacts::default() }))
                .collect(),
            ..HostFacts::default()
        }
    }

    fn any_host() -> impl Strategy<Value = HostFacts> {
        let disks = prop::collection::btree_map("sd[a-e]", 1_u64..4, 0..5);
        let addresses = prop::collection::btree_set(0_u8..6, 0..3);
        (disks, prop::collection::btree_set(1_u16..6, 0..5), addresses).prop_map(
            |(disks, ports, addresses)| {
                let disks: Vec<(&str, u64)> =
                    disks.iter().map(|(name, size)| (name.as_str(), *size)).collect();
                let addresses = addresses.into_iter().map(|last| IpAddr::from([198, 18, 0, last])).collect();
                HostFacts { addresses, ..host(&disks, &ports.into_iter().collect::<Vec<_>>()) }
            },
        )
    }

    #[test]
    fn a_device_that_is_gone_keeps_its_facts() {
        let at = Timestamp::from_seconds;
        let mut recorded = RecordedHost::default();
        recorded.start(at(1), host(&[("sda", 1), ("sdb", 1)], &[22]));
        recorded.change(at(2), Change::Gone(Item::Device("sdb".into())));
        recorded.change(at(3), Change::Device(disk("sdc", 2)));
        recorded.start(at(4), host(&[("sda", 1), ("sdc", 2)], &[]));
        assert_eq!(recorded.facts.devices.len(), 3);
        assert_eq!(recorded.appeared, [(Item::Device("sdc".into()), at(3))].into());
        let gone = [(Item::Device("sdb".into()), at(2)), (Item::Port(22), at(4))];
        assert_eq!(recorded.gone, gone.into());
    }

    #[test]
    fn a_device_is_found_by_its_mapper_name() {
        let mapped = DeviceFacts { mapper_name: Some("rootvg-home".into()), ..disk("dm-3", 1) };
        let facts = HostFacts { devices: [("dm-3".into(), mapped)].into(), ..HostFacts::default() };
        assert_eq!(facts.device("rootvg-home").unwrap().name, "dm-3");
    }

    #[test]
    fn facts_of_a_newer_version_are_read() {
        let text = r#"{"device":{"name":"sda","transport":"quantum","colour":"green"}}"#;
        let Change::Device(facts) = serde_json::from_str(text).unwrap() else { panic!() };
        assert_eq!(facts.transport, Some(Transport::Other));
    }

    proptest! {
        #[test]
        fn changes_lead_from_one_snapshot_to_the_next(before in any_host(), after in any_host()) {
            let mut facts = before.clone();
            before.changes_to(&after).into_iter().for_each(|change| facts.apply(change));
            prop_assert_eq!(&facts, &after);
            prop_assert_eq!(after.changes_to(&after), vec![]);
        }

        #[test]
        fn changes_read_back(facts in any_host()) {
            for change in HostFacts::default().changes_to(&facts) {
                let text = serde_json::to_string(&change).unwrap();
                prop_assert_eq!(serde_json::from_str::<Change>(&text).unwrap(), change);
            }
        }
    }
}
