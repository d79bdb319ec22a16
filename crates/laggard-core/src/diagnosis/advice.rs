//! Next steps that fit the suspect: commands for its kind of device, on nodes that exist.

use crate::model::cluster::Component;
use crate::model::device::{DeviceClass, node};

/// The place that the next steps are about.
pub(super) struct Place<'a> {
    name: &'a str,
    host: &'a str,
    device: Option<BlockDevice<'a>>,
}

struct BlockDevice<'a> {
    /// As the host calls it.
    name: &'a str,
    class: DeviceClass,
    node: Option<String>,
    below: Vec<&'a str>,
}

impl<'a> Place<'a> {
    /// The suspect, and the component of it that is affected most. Commands use the names of the host, whatever the
    /// report calls them.
    pub(super) fn new(name: &'a str, worst: Option<&'a Component>) -> Place<'a> {
        let host = worst.and_then(|worst| worst.attributes.get("server")).map_or(name, String::as_str);
        Place { name, host, device: worst.and_then(BlockDevice::of) }
    }

    /// A line with its placeholders filled: `{host}`, `{name}`, `{device}`, `{trace}` (the device as `laggard trace` takes
    /// it) and `{health}` (how to examine it). Nothing where the place has no such thing.
    pub(super) fn fill(&self, line: &str) -> Option<String> {
        let mut text = line.replace("{host}", self.host).replace("{name}", self.name);
        if text.contains("{health}") {
            text = text.replace(
                "{health}",
                &self.device.as_ref().map_or_else(|| KERNEL_LOG.into(), BlockDevice::health),
            );
        }
        if text.contains("{trace}") {
            text = text.replace("{trace}", &self.device.as_ref()?.traced()?);
        }
        if text.contains("{device}") {
            text = text.replace("{device}", self.device.as_ref()?.name);
        }
        Some(text)
    }
}

/// Where there is no device to examine.
const KERNEL_LOG: &str = "the kernel log: I/O errors, resets, timeouts?";

impl<'a> BlockDevice<'a> {
    fn of(component: &'a Component) -> Option<BlockDevice<'a>> {
        let class = component.class?;
        let in_host = |recorded: &'a str| recorded.rsplit_once(':').map_or(recorded, |(_, device)| device);
        let name = in_host(&component.recorded);
        let below = component.below.iter().map(|below| in_host(below)).collect();
        Some(BlockDevice { name, class, node: node(name, class), below })
    }

    /// As `laggard trace record --dev` takes it: `sdb`, or `8:16`.
    fn traced(&self) -> Option<String> {
        let node = self.node.as_deref()?.strip_prefix("/dev/")?;
        let traced = node.strip_prefix("block/").unwrap_or(node);
        (!traced.contains('/')).then(|| traced.to_owned())
    }

    /// How to examine it.
    fn health(&self) -> String {
        let name = self.name;
        match self.class {
            DeviceClass::HardDisk | DeviceClass::Disk => {
                self.smart("errors, reallocated or pending sectors?")
            }
            DeviceClass::Flash => self.smart("errors, wear, spare blocks?"),
            DeviceClass::Nvme => self.smart("critical warnings, media errors, temperature, spare blocks?"),
            DeviceClass::VirtualDisk => {
                format!(
                    "the kernel log: errors of {name}? Then the hypervisor: is its storage slow, or throttled?"
                )
            }
            DeviceClass::Lun | DeviceClass::Multipath | DeviceClass::MultipathPath => {
                format!(
                    "`multipath -ll` and the kernel log: failed paths or errors of {name}? Then the array's log"
                )
            }
            DeviceClass::NetworkDisk => {
                format!(
                    "the kernel log: errors or timeouts of {name}? Then the server behind it, and the network"
                )
            }
            DeviceClass::Md => self.command("mdadm --detail", "a degraded array, a resync, a check?"),
            DeviceClass::Loop => self.command("losetup", "then check the disk that holds its file"),
            DeviceClass::DeviceMapper | DeviceClass::Volume | DeviceClass::Partition => self.lower_devices(),
            DeviceClass::Usb
            | DeviceClass::Mmc
            | DeviceClass::Pmem
            | DeviceClass::Optical
            | DeviceClass::Floppy
            | DeviceClass::Ram
            | DeviceClass::Zram => format!("the kernel log: errors of {name}?"),
            DeviceClass::Unknown => format!("the kernel log, and the diagnostics of {name} itself: errors?"),
        }
    }

    fn smart(&self, question: &str) -> String {
        match &self.node {
            Some(node) => format!("`smartctl -a {node}` and the kernel log: {question}"),
            None => format!("the kernel log: errors of {}?", self.name),
        }
    }

    fn command(&self, command: &str, question: &str) -> String {
        match &self.node {
            Some(node) => format!("`{command} {node}`: {question}"),
            None => format!("{}: {question}", self.name),
        }
    }

    fn lower_devices(&self) -> String {
        if !self.below.is_empty() {
            return format!("{} is stacked on {}: check these", self.name, self.below.join(", "));
        }
        match &self.node {
            Some(node) => format!("`lsblk -s {node}`: check the disks below it"),
            None => format!("check the disks below {}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::cluster::{ClusterFile, Inventory, Recorded};
    use crate::model::component::Kind;

    fn disk(device: &str) -> Component {
        let name = format!("oss3:{device}");
        let recorded = [Recorded { name, kind: Kind::ATTACHMENT, host: "oss3".into() }];
        Inventory::new(&ClusterFile::default(), &recorded).components.remove(0)
    }

    fn health(device: &str) -> String {
        Place::new("x", Some(&disk(device))).fill("{health}").unwrap()
    }

    #[test]
    fn the_commands_fit_the_class_of_the_device() {
        for (device, expected) in [
            ("sdb", "`smartctl -a /dev/sdb` and the kernel log: errors, reallocated or pending sectors?"),
            ("dev8-16", "`smartctl -a /dev/block/8:16` and"),
            ("nvme0n1", "`smartctl -a /dev/nvme0n1` and the kernel log: critical warnings"),
            ("loop7", "`losetup /dev/loop7`"),
            ("dm-3", "`lsblk -s /dev/dm-3`"),
            ("md0", "`mdadm --detail /dev/md0`"),
            ("vda", "the kernel log"),
            ("drive 7", "the kernel log"),
        ] {
            let health = health(device);
            assert!(health.starts_with(expected), "{device}: {health}");
            let has_sectors = health.contains("sectors");
            assert_eq!(has_sectors, device == "sdb" || device == "dev8-16", "{device}: {health}");
        }
        for device in ["loop7", "dm-3", "md0", "vda", "rbd0", "drive 7", "mpatha"] {
            assert!(!health(device).contains("smartctl"), "{device}");
        }
    }

    #[test]
    fn a_volume_with_recorded_facts_names_what_is_below_it() {
        let volume = Component { below: vec!["oss3:sda2".into()], ..disk("dm-3") };
        let line = Place::new("x", Some(&volume)).fill("{health}").unwrap();
        assert_eq!(line, "dm-3 is stacked on sda2: check these");
    }

    #[test]
    fn a_line_about_a_device_is_left_out_where_there_is_none() {
        let server = Place::new("oss3", None);
        assert_eq!(server.fill("on {host}: {health}").unwrap(), format!("on oss3: {KERNEL_LOG}"));
        assert_eq!(server.fill("on {host}: is {device} there?"), None);
        assert_eq!(Place::new("x", Some(&disk("drive 7"))).fill("--dev {trace}"), None);
        assert_eq!(Place::new("x", Some(&disk("dev8-16"))).fill("--dev {trace}").unwrap(), "--dev 8:16");
    }
}
