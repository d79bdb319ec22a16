//! Classes of block devices.
//! In: the names of a host's devices, and what was recorded about them. Out: [`Device`]. Always: a recorded fact
//! decides before a name does.

mod class;
mod name;
mod node;

pub use class::{DeviceClass, Standing};
pub use node::node;

use std::collections::{BTreeMap, BTreeSet};

use super::host_facts::{DeviceFacts, HostFacts, Transport};
use name::{Named, parse};

/// The class of a device, and the devices below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub class: DeviceClass,
    /// The disk of a partition; what a volume is stacked on, as far as it was recorded.
    pub below: Vec<String>,
}

/// Classifies the recorded devices of one host.
pub fn classify<'a>(names: &[&'a str], facts: Option<&HostFacts>) -> BTreeMap<&'a str, Device> {
    let none = HostFacts::default();
    let facts = facts.unwrap_or(&none);
    let parsed: BTreeMap<&str, Named> = names.iter().map(|name| (*name, parse(name))).collect();
    let dynamic = DynamicMajors::of(&parsed);
    let is_kernel_named = parsed.values().any(|named| *named != Named::Unknown);
    let classify = |(&name, named): (&&'a str, &Named)| {
        let device = match facts.device(name) {
            Some(device) => from_facts(device, named, facts, &|disk| parsed.contains_key(disk)),
            None => from_name(named, &|disk| parsed.contains_key(disk), &dynamic, is_kernel_named),
        };
        (name, device)
    };
    parsed.iter().map(classify).collect()
}

fn from_facts(
    device: &DeviceFacts,
    named: &Named,
    host: &HostFacts,
    is_recorded: &dyn Fn(&str) -> bool,
) -> Device {
    match &device.partition_of {
        Some(disk) if is_recorded(disk) => {
            return Device { class: DeviceClass::Partition, below: vec![disk.clone()] };
        }
        // It stands for the disk, as below.
        Some(disk) => {
            if let Some(whole) = host.devices.get(disk) {
                return from_facts(
                    &DeviceFacts { partition_of: None, ..whole.clone() },
                    &parse(disk),
                    host,
                    is_recorded,
                );
            }
        }
        None => {}
    }
    let class = match named {
        Named::Path { device } if is_recorded(device) => DeviceClass::MultipathPath,
        _ if device.mapper_kind.as_deref() == Some("mpath") => DeviceClass::Multipath,
        _ if device.mapper_name.is_some() => DeviceClass::DeviceMapper,
        _ if is_path_of_mapper(&device.name, host, is_recorded) => DeviceClass::MultipathPath,
        Named::Device(class) if !class.is_refined_by_facts() => *class,
        _ => of_disk(device),
    };
    Device { class, below: device.stacked_on.clone() }
}

/// True for a disk that a recorded multipath device uses as one of its paths.
fn is_path_of_mapper(name: &str, host: &HostFacts, is_recorded: &dyn Fn(&str) -> bool) -> bool {
    let is_above = |device: &DeviceFacts| {
        device.mapper_kind.as_deref() == Some("mpath")
            && device.stacked_on.iter().any(|below| below == name)
            && (is_recorded(&device.name) || device.mapper_name.as_deref().is_some_and(is_recorded))
    };
    host.devices.values().any(is_above)
}

/// Names of hypervisors in the models of their disks.
const VIRTUAL_MODELS: [&str; 4] = ["virtual", "qemu", "vbox", "msft"];

fn of_disk(device: &DeviceFacts) -> DeviceClass {
    let model = device.model.as_deref().unwrap_or_default().to_ascii_lowercase();
    match device.transport {
        Some(Transport::Nvme) => DeviceClass::Nvme,
        Some(Transport::Virtio | Transport::Xen | Transport::Vmbus) => DeviceClass::VirtualDisk,
        Some(Transport::Iscsi | Transport::Fc) => DeviceClass::Lun,
        Some(Transport::Usb) => DeviceClass::Usb,
        _ if VIRTUAL_MODELS.iter().any(|name| model.contains(name)) => DeviceClass::VirtualDisk,
        _ => match device.rotational {
            Some(true) => DeviceClass::HardDisk,
            Some(false) => DeviceClass::Flash,
            None => DeviceClass::Disk,
        },
    }
}

fn from_name(
    named: &Named,
    is_recorded: &dyn Fn(&str) -> bool,
    dynamic: &DynamicMajors,
    is_kernel_named: bool,
) -> Device {
    let alone = |class| Device { class, below: Vec::new() };
    match named {
        Named::Device(class) => alone(*class),
        // Xen hosts have an xvda1 without an xvda, and a recording may leave the disk out: then it stands for the disk.
        Named::Partition { disk, class } if !is_recorded(disk) => alone(*class),
        Named::Partition { disk, .. } => Device { class: DeviceClass::Partition, below: vec![disk.clone()] },
        // Many kernels count the requests of an NVMe multipath device only on its paths.
        Named::Path { device } if !is_recorded(device) => alone(DeviceClass::Nvme),
        Named::Path { .. } => alone(DeviceClass::MultipathPath),
        Named::DynamicMajor { major, .. } => alone(dynamic.class(*major)),
        // sysstat prints the registered names of device-mapper devices between those of disks.
        Named::Unknown if is_kernel_named => alone(DeviceClass::DeviceMapper),
        Named::Unknown => alone(DeviceClass::Unknown),
    }
}

/// Major numbers that the kernel hands out as drivers load, so that their meaning differs from host to host. Of those
/// that `sar` prints, nearly all are device-mapper or virtio disks.
struct DynamicMajors {
    minors: BTreeMap<u32, BTreeSet<u32>>,
    has_static_disks: bool,
}

/// A virtio disk has this many minor numbers, one for itself and one for each partition.
const MINORS_OF_A_VIRTIO_DISK: u32 = 16;

impl DynamicMajors {
    fn of(parsed: &BTreeMap<&str, Named>) -> DynamicMajors {
        let mut minors: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for named in parsed.values() {
            if let Named::DynamicMajor { major, minor } = named {
                minors.entry(*major).or_default().insert(*minor);
            }
        }
        let is_disk =
            |named: &Named| matches!(named, Named::Device(class) if class.standing() == Standing::Compared);
        DynamicMajors { minors, has_static_disks: parsed.values().any(is_disk) }
    }

    fn class(&self, major: u32) -> DeviceClass {
        let is_spaced =
            |minors: &BTreeSet<u32>| minors.iter().all(|m| m.is_multiple_of(MINORS_OF_A_VIRTIO_DISK));
        let is_lone_zero = |minors: &BTreeSet<u32>| minors.len() == 1 && minors.contains(&0);
        let Some(own) = self.minors.get(&major) else { return DeviceClass::DeviceMapper };
        let others_are_volumes =
            self.minors.iter().any(|(other, minors)| *other != major && !is_spaced(minors));
        if !is_spaced(own) {
            return DeviceClass::DeviceMapper;
        }
        // A single minor 0 is either; next to real disks, or next to spaced minors, it is a volume.
        let others_are_disks = self.has_static_disks
            || self
                .minors
                .iter()
                .any(|(other, minors)| *other != major && is_spaced(minors) && minors.len() > 1);
        match is_lone_zero(own) && others_are_disks && !others_are_volumes {
            true => DeviceClass::DeviceMapper,
            false => DeviceClass::VirtualDisk,
        }
    }
}

#[cfg(test)]
mod tests;
