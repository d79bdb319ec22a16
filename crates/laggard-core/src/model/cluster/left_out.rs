//! Block devices that are not peers of disks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::super::component::attachment;
use super::super::device::{Device, DeviceClass, Standing, classify};
use super::super::host_facts::HostFacts;
use super::recorded::Placed;

/// A recorded block device that is not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The recorded name.
    pub name: String,
    pub class: DeviceClass,
    pub reason: LeftOutReason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// Devices of this class are not compared, or not where there are disks.
    Class,
    /// A partition of this disk, which is recorded too: the kernel counts the requests twice.
    PartitionOf(String),
    /// Stacked on this device of the same class, which is compared.
    StackedOn(String),
    /// It did nothing, or next to nothing, in the whole recording.
    Inactive,
    /// Its host's disks read where others write, or the other way round.
    OtherWork,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            LeftOutReason::PartitionOf(disk) => write!(f, "a partition of {disk}"),
            LeftOutReason::StackedOn(below) => write!(f, "stacked on {below}"),
            LeftOutReason::Inactive => f.write_str("inactive"),
            LeftOutReason::OtherWork => f.write_str("does other work"),
            LeftOutReason::Class => f.write_str(match self.class {
                DeviceClass::DeviceMapper | DeviceClass::Md | DeviceClass::Volume => "a volume",
                DeviceClass::Loop => "a loop device",
                DeviceClass::MultipathPath => "one path of a multipath device",
                DeviceClass::Optical => "an optical drive",
                DeviceClass::Floppy => "a floppy drive",
                DeviceClass::Ram | DeviceClass::Zram => "memory",
                DeviceClass::Partition => "a partition",
                other => other.as_str(),
            }),
        }
    }
}

/// The block devices of all hosts.
pub(super) struct BlockDevices<'a> {
    hosts: BTreeMap<&'a str, HostDevices<'a>>,
}

struct HostDevices<'a> {
    devices: BTreeMap<&'a str, Device>,
    facts: Option<&'a HostFacts>,
    /// Devices that are compared because of their class or a rule.
    compared: BTreeSet<&'a str>,
}

impl<'a> BlockDevices<'a> {
    pub(super) fn new(placed: &[Placed<'a>], facts: &BTreeMap<&str, &'a HostFacts>) -> BlockDevices<'a> {
        let mut of_host: BTreeMap<&'a str, Vec<(&'a str, &Placed<'a>)>> = BTreeMap::new();
        for one in placed {
            if let Some(name) = one.device_name() {
                of_host.entry(&one.recorded.host).or_default().push((name, one));
            }
        }
        let hosts = of_host.into_iter().map(|(host, names)| {
            let facts = facts.get(host).copied();
            (host, HostDevices::new(&names, facts))
        });
        BlockDevices { hosts: hosts.collect() }
    }

    /// The class of a block device; nothing for other components.
    pub(super) fn device(&self, placed: &Placed<'_>) -> Option<&Device> {
        self.hosts.get(placed.recorded.host.as_str())?.devices.get(placed.device_name()?)
    }

    /// Why a device is not compared, if it is not, and no `[[ignore]]` says so.
    pub(super) fn left_out(&self, placed: &Placed<'_>) -> Option<LeftOut> {
        let (device, name) = (self.device(placed)?, placed.device_name()?);
        if placed.ignore.is_some() || placed.is_named {
            return None;
        }
        let host = self.hosts.get(placed.recorded.host.as_str())?;
        let full = |device: &str| attachment(&placed.recorded.host, device);
        let reason = match device.below.first().filter(|_| device.class == DeviceClass::Partition) {
            Some(disk) => LeftOutReason::PartitionOf(full(disk)),
            None if !host.compared.contains(name) => LeftOutReason::Class,
            None => LeftOutReason::StackedOn(full(host.compared_below(name)?)),
        };
        Some(LeftOut { name: placed.recorded.name.clone(), class: device.class, reason })
    }
}

impl<'a> HostDevices<'a> {
    fn new(placed: &[(&'a str, &Placed<'a>)], facts: Option<&'a HostFacts>) -> HostDevices<'a> {
        let names: Vec<&'a str> = placed.iter().map(|(name, _)| *name).collect();
        let devices = classify(&names, facts);
        let candidates = || placed.iter().filter(|(_, one)| one.ignore.is_none());
        let with = |standing: Standing| {
            let has_standing = |(name, one): &&(&'a str, &Placed)| {
                one.is_named || devices[name].class.standing() == standing
            };
            candidates().filter(has_standing).map(|(name, _)| *name).collect::<BTreeSet<&str>>()
        };
        let disks = with(Standing::Compared);
        let compared = if disks.is_empty() { with(Standing::Substitute) } else { disks };
        HostDevices { devices, facts, compared }
    }

    /// A compared device of the same class that this one is stacked on, however many layers below.
    fn compared_below(&self, name: &str) -> Option<&'a str> {
        let class = self.devices.get(name)?.class;
        let mut seen = BTreeSet::new();
        let mut waiting = self.below(name);
        while let Some(next) = waiting.pop() {
            let recorded = self.recorded_as(&next);
            if let Some(found) = recorded.filter(|found| self.compared.contains(found) && *found != name)
                && self.devices[found].class == class
            {
                return Some(found);
            }
            if seen.insert(next.clone()) {
                waiting.extend(self.below(&next));
            }
        }
        None
    }

    fn below(&self, name: &str) -> Vec<String> {
        match self.facts.and_then(|facts| facts.device(name)) {
            Some(facts) => facts.stacked_on.iter().chain(&facts.partition_of).cloned().collect(),
            None => self.devices.get(name).map(|device| device.below.clone()).unwrap_or_default(),
        }
    }

    /// sysstat records device-mapper devices by their registered name.
    fn recorded_as(&self, kernel_name: &str) -> Option<&'a str> {
        let recorded = |name: &str| self.devices.get_key_value(name).map(|(name, _)| *name);
        let mapped = || self.facts?.devices.get(kernel_name)?.mapper_name.as_deref();
        recorded(kernel_name).or_else(|| recorded(mapped()?))
    }
}
