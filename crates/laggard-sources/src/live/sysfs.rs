//! `/sys/block` and `/sys/class/net`: the devices and interfaces of a host.

use std::collections::BTreeMap;
use std::path::Path;

use laggard_core::model::host_facts::{DeviceFacts, InterfaceFacts, Transport};

const SECTOR_BYTES: u64 = 512;

/// All devices with a size, and their partitions.
pub(super) fn devices(sysfs: &Path) -> BTreeMap<String, DeviceFacts> {
    let mut devices = BTreeMap::new();
    for folder in folders(&sysfs.join("block")) {
        let device = device(&folder);
        // Loop and network devices exist in advance; without a size they are unused. RAM disks always have one.
        if (device.size_bytes == 0 && !device.hidden) || device.name.starts_with("ram") {
            continue;
        }
        for part in folders(&folder).into_iter().filter(|part| part.join("partition").exists()) {
            let partition_of = Some(device.name.clone());
            let part = DeviceFacts { partition_of, ..numbered(&part) };
            devices.insert(part.name.clone(), part);
        }
        devices.insert(device.name.clone(), device);
    }
    devices
}

fn device(folder: &Path) -> DeviceFacts {
    let uuid = word(&folder.join("dm/uuid"));
    let mut stacked_on: Vec<String> = folders(&folder.join("slaves")).iter().map(|path| name(path)).collect();
    stacked_on.sort_unstable();
    DeviceFacts {
        rotational: word(&folder.join("queue/rotational")).map(|word| word == "1"),
        transport: transport(folder),
        model: word(&folder.join("device/model")),
        removable: is_set(&folder.join("removable")),
        hidden: is_set(&folder.join("hidden")),
        stacked_on,
        mapper_name: word(&folder.join("dm/name")),
        mapper_kind: uuid.and_then(|uuid| Some(uuid.split_once('-')?.0.to_owned())),
        backing_file: word(&folder.join("loop/backing_file")),
        ..numbered(folder)
    }
}

/// Name, number and size, which partitions have too.
fn numbered(folder: &Path) -> DeviceFacts {
    let sectors: u64 = word(&folder.join("size")).and_then(|size| size.parse().ok()).unwrap_or_default();
    DeviceFacts {
        name: name(folder),
        number: word(&folder.join("dev")).unwrap_or_default(),
        size_bytes: sectors.saturating_mul(SECTOR_BYTES),
        ..DeviceFacts::default()
    }
}

/// The kernel writes `cciss!c0d0` for what /proc/diskstats calls `cciss/c0d0`.
fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().replace('!', "/")
}

/// Parts of a device's path that tell its transport; the first that fits decides.
const TRANSPORTS: [(&str, Transport); 12] = [
    ("usb", Transport::Usb),
    ("virtio", Transport::Virtio),
    ("session", Transport::Iscsi),
    ("rport-", Transport::Fc),
    ("end_device-", Transport::Sas),
    ("ata", Transport::Sata),
    ("nvme", Transport::Nvme),
    ("mmc", Transport::Mmc),
    ("vbd-", Transport::Xen),
    ("vmbus", Transport::Vmbus),
    ("VMBUS", Transport::Vmbus),
    ("loop", Transport::Loop),
];

/// From where the device is: `../devices/pci0000:00/0000:00:02.0/virtio1/block/vda`.
fn transport(folder: &Path) -> Option<Transport> {
    let link = std::fs::read_link(folder).ok()?;
    let parts: Vec<&str> = link.iter().filter_map(|part| part.to_str()).collect();
    let is_numbered = |part: &str, prefix: &str| {
        part.strip_prefix(prefix).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit() || "-_:".contains(c))
        })
    };
    let known = TRANSPORTS.iter().find(|(prefix, _)| {
        let prefix = prefix.trim_end_matches('-');
        parts.iter().any(|part| is_numbered(part, prefix))
    });
    let is_scsi = || parts.iter().any(|part| part.starts_with("target"));
    known.map(|(_, transport)| *transport).or_else(|| is_scsi().then_some(Transport::Scsi))
}

/// All interfaces but `lo`.
pub(super) fn interfaces(sysfs: &Path) -> BTreeMap<String, InterfaceFacts> {
    let folders = folders(&sysfs.join("class/net"));
    let interfaces =
        folders.iter().map(|folder| interface(folder)).filter(|interface| interface.name != "lo");
    interfaces.map(|interface| (interface.name.clone(), interface)).collect()
}

fn interface(folder: &Path) -> InterfaceFacts {
    // Unknown speeds are -1, or an error.
    let number = |file: &str| word(&folder.join(file)).and_then(|word| word.parse::<u64>().ok());
    InterfaceFacts {
        name: name(folder),
        speed_mbit_per_second: number("speed").filter(|speed| *speed > 0 && *speed < u64::from(u32::MAX)),
        physical: folder.join("device").exists(),
        state: word(&folder.join("operstate")).unwrap_or_default(),
        hardware_type: number("type").and_then(|kind| kind.try_into().ok()),
    }
}

/// Folders and links to folders, in the order of their names.
fn folders(parent: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(parent) else { return Vec::new() };
    let mut paths: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    paths.sort_unstable();
    paths
}

fn is_set(path: &Path) -> bool {
    word(path).as_deref() == Some("1")
}

fn word(path: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A tree with a device at a place below `devices`.
    fn add(sysfs: &Path, place: &str, files: &[(&str, &str)]) {
        let folder = sysfs.join("devices").join(place);
        fs::create_dir_all(&folder).unwrap();
        for (file, text) in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let block = sysfs.join("block");
        fs::create_dir_all(&block).unwrap();
        let name = folder.file_name().unwrap().to_owned();
        symlink(format!("../devices/{place}"), block.join(name)).unwrap();
    }

    #[test]
    fn the_path_of_a_device_tells_its_transport() {
        let tree = tempfile::tempdir().unwrap();
        let cases = [
            ("pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda", Some(Transport::Sata)),
            (
                "pci0000:00/0/host1/port-1:0/end_device-1:0/target1:0:0/1:0:0:0/block/sdb",
                Some(Transport::Sas),
            ),
            ("pci0000:00/0/usb1/1-1/1-1:1.0/host2/target2:0:0/2:0:0:0/block/sdc", Some(Transport::Usb)),
            ("platform/host3/session1/target3:0:0/3:0:0:1/block/sdd", Some(Transport::Iscsi)),
            ("pci0000:00/0/host4/rport-4:0-0/target4:0:0/4:0:0:1/block/sde", Some(Transport::Fc)),
            ("pci0000:00/0/host5/target5:2:0/5:2:0:0/block/sdf", Some(Transport::Scsi)),
            ("pci0000:00/0/virtio1/block/vda", Some(Transport::Virtio)),
            ("pci0000:00/0/virtio2/host6/target6:0:0/6:0:0:0/block/sdg", Some(Transport::Virtio)),
            ("pci0000:00/0/nvme/nvme0/nvme0n1", Some(Transport::Nvme)),
            ("virtual/nvme-subsystem/nvme-subsys0/nvme1n1", Some(Transport::Nvme)),
            ("vbd-768/block/xvda", Some(Transport::Xen)),
            ("platform/soc/mmc_host/mmc0/mmc0:0001/block/mmcblk0", Some(Transport::Mmc)),
            ("virtual/block/loop0", Some(Transport::Loop)),
            ("virtual/block/dm-0", None),
        ];
        for (place, _) in cases {
            add(tree.path(), place, &[("size", "2048\n")]);
        }
        let devices = devices(tree.path());
        for (place, expected) in cases {
            let name = place.rsplit('/').next().unwrap();
            assert_eq!(devices[name].transport, expected, "{place}");
            assert_eq!(devices[name].size_bytes, 1 << 20);
        }
    }

    #[test]
    fn stacked_devices_and_partitions_name_what_is_below_them() {
        let tree = tempfile::tempdir().unwrap();
        let disk = "pci0/ata1/host0/target0:0:0/0:0:0:0/block/sda";
        let files =
            [("size", "4096"), ("queue/rotational", "1"), ("device/model", "ST4000 \n"), ("dev", "8:0")];
        add(tree.path(), disk, &files);
        let partition = tree.path().join("devices").join(disk).join("sda2");
        fs::create_dir(&partition).unwrap();
        for (file, text) in [("partition", "2"), ("size", "1024"), ("dev", "8:2")] {
            fs::write(partition.join(file), text).unwrap();
        }
        let files = [("size", "512"), ("dm/name", "rootvg-home\n"), ("dm/uuid", "LVM-abc\n")];
        add(tree.path(), "virtual/block/dm-0", &files);
        fs::create_dir_all(tree.path().join("devices/virtual/block/dm-0/slaves/sda2")).unwrap();
        add(tree.path(), "virtual/block/loop7", &[("size", "0")]);
        add(tree.path(), "virtual/nvme-subsystem/nvme-subsys0/nvme0c0n1", &[("size", "0"), ("hidden", "1")]);
        let devices = devices(tree.path());
        let names: Vec<&str> = devices.keys().map(String::as_str).collect();
        assert_eq!(names, ["dm-0", "nvme0c0n1", "sda", "sda2"]);
        assert_eq!(devices["sda2"].partition_of.as_deref(), Some("sda"));
        assert_eq!(devices["dm-0"].stacked_on, ["sda2"]);
        assert_eq!(devices["dm-0"].mapper_kind.as_deref(), Some("LVM"));
        let sda = &devices["sda"];
        assert_eq!(
            (sda.rotational, sda.model.as_deref(), sda.number.as_str()),
            (Some(true), Some("ST4000"), "8:0")
        );
        assert!(devices["nvme0c0n1"].hidden);
    }

    #[test]
    fn an_unknown_speed_is_not_a_number() {
        let tree = tempfile::tempdir().unwrap();
        for (name, speed) in [("eth0", "10000"), ("br0", "-1"), ("tun0", "4294967295"), ("lo", "")] {
            let folder = tree.path().join("class/net").join(name);
            fs::create_dir_all(&folder).unwrap();
            for (file, text) in [("speed", speed), ("operstate", "up"), ("type", "1")] {
                fs::write(folder.join(file), text).unwrap();
            }
        }
        fs::create_dir(tree.path().join("class/net/eth0/device")).unwrap();
        let interfaces = interfaces(tree.path());
        let known = |name: &str| (interfaces[name].speed_mbit_per_second, interfaces[name].physical);
        assert_eq!(known("eth0"), (Some(10_000), true));
        assert_eq!((known("br0"), known("tun0")), ((None, false), (None, false)));
        assert!(!interfaces.contains_key("lo"));
    }
}
