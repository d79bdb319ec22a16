use proptest::prelude::{prop, prop_assert_eq, proptest};

use super::*;

fn class(name: &str) -> DeviceClass {
    classify(&[name], None)[name].class
}

fn classes(names: &[&str]) -> Vec<DeviceClass> {
    let classified = classify(names, None);
    names.iter().map(|name| classified[name].class).collect()
}

#[test]
fn names_of_whole_devices_tell_their_class() {
    use DeviceClass::*;
    for (names, expected) in [
        (
            &["sda", "sdaa", "hdc", "dasda", "cciss!c0d0", "cciss/c0d0", "dev8-0", "dev65-16", "dev94-4"][..],
            Disk,
        ),
        (&["nvme0n1", "nvme12n3", "nvme0c0n1", "dev259-5"], Nvme),
        (&["vda", "xvda", "xvda1", "dev202-0", "dev254-0"], VirtualDisk),
        (&["nbd0", "rbd3", "drbd0", "dev43-0", "etherd!e1.2"], NetworkDisk),
        (&["mpatha", "emcpowerb"], Multipath),
        (&["mmcblk0", "dev179-0"], Mmc),
        (&["dm-0", "mapper/rootvg-home"], DeviceMapper),
        (&["md0", "md127", "md_d0", "dev9-127"], Md),
        (&["loop0", "loop17", "dev7-3"], Loop),
        (&["sr0", "scd0", "dev11-0"], Optical),
        (&["fd0", "fd0u1440", "dev2-0"], Floppy),
        (&["ram0", "dev1-15"], Ram),
        (&["zram0"], Zram),
        (&["drive-7", "rootvg-home", "l1", "nvme0", "sd1", "fdx", "dev8", "dev-8", "loop", ""], Unknown),
    ] {
        for name in names {
            assert_eq!(class(name), expected, "{name}");
        }
    }
}

#[test]
fn a_partition_is_one_only_beside_its_disk() {
    for (partition, disk) in [
        ("sda1", "sda"),
        ("sdaa12", "sdaa"),
        ("vda1", "vda"),
        ("xvda1", "xvda"),
        ("dasda1", "dasda"),
        ("nvme0n1p2", "nvme0n1"),
        ("mmcblk0p1", "mmcblk0"),
        ("mmcblk0boot0", "mmcblk0"),
        ("md127p1", "md127"),
        ("loop0p1", "loop0"),
        ("cciss!c0d0p1", "cciss!c0d0"),
        ("cciss/c0d0p1", "cciss/c0d0"),
        ("dev8-17", "dev8-16"),
    ] {
        let both = classify(&[partition, disk], None);
        let expected = Device { class: DeviceClass::Partition, below: vec![disk.into()] };
        assert_eq!(both[partition], expected, "{partition}");
        assert_eq!(class(partition), both[disk].class, "{partition} alone stands for its disk");
    }
}

#[test]
fn a_path_is_one_only_beside_its_multipath_device() {
    use DeviceClass::{MultipathPath, Nvme};
    assert_eq!(classes(&["nvme0n1", "nvme0c0n1", "nvme0c1n1"]), [Nvme, MultipathPath, MultipathPath]);
    assert_eq!(classes(&["nvme0c0n1", "nvme1c1n1", "nvme1n2"]), [Nvme, Nvme, Nvme]);
}

#[test]
fn a_registered_mapper_name_among_disks_is_a_volume() {
    use DeviceClass::{DeviceMapper, Disk, Unknown};
    assert_eq!(classes(&["sda", "rootvg-home"]), [Disk, DeviceMapper]);
    assert_eq!(classes(&["rootvg-home", "rootvg-swap"]), [Unknown, Unknown]);
}

#[test]
fn dynamic_major_numbers_are_told_apart_by_their_neighbours() {
    use DeviceClass::{DeviceMapper, Disk, VirtualDisk};
    assert_eq!(classes(&["dev8-0", "dev253-0", "dev253-1"]), [Disk, DeviceMapper, DeviceMapper]);
    assert_eq!(classes(&["dev8-0", "dev253-0"]), [Disk, DeviceMapper]);
    assert_eq!(classes(&["dev252-0", "dev252-16", "dev253-0"]), [VirtualDisk, VirtualDisk, DeviceMapper]);
    assert_eq!(classes(&["dev252-0", "dev253-0", "dev253-1"]), [VirtualDisk, DeviceMapper, DeviceMapper]);
}

fn facts(devices: Vec<DeviceFacts>) -> HostFacts {
    let devices = devices.into_iter().map(|device| (device.name.clone(), device)).collect();
    HostFacts { devices, ..HostFacts::default() }
}

fn device(name: &str) -> DeviceFacts {
    DeviceFacts { name: name.into(), ..DeviceFacts::default() }
}

#[test]
fn recorded_facts_tell_the_medium_and_the_transport() {
    use DeviceClass::*;
    let disk = |name, transport, rotational| DeviceFacts {
        transport: Some(transport),
        rotational: Some(rotational),
        ..device(name)
    };
    let facts = facts(vec![
        disk("sda", Transport::Sata, true),
        disk("sdb", Transport::Sas, false),
        disk("sdc", Transport::Virtio, true),
        disk("sdd", Transport::Fc, true),
        disk("sde", Transport::Usb, true),
        disk("vda", Transport::Virtio, true),
        disk("sr0", Transport::Sata, true),
        disk("loop0", Transport::Loop, false),
        DeviceFacts { model: Some("VMware Virtual disk".into()), ..disk("sdf", Transport::Scsi, true) },
    ]);
    let names = ["sda", "sdb", "sdc", "sdd", "sde", "vda", "sr0", "loop0", "sdf", "sdz"];
    let classified = classify(&names, Some(&facts));
    let expected = [HardDisk, Flash, VirtualDisk, Lun, Usb, VirtualDisk, Optical, Loop, VirtualDisk, Disk];
    for (name, expected) in names.iter().zip(expected) {
        assert_eq!(classified[name].class, expected, "{name}");
    }
}

#[test]
fn a_stacked_device_knows_what_is_below_it() {
    let facts = facts(vec![
        device("sda"),
        DeviceFacts { partition_of: Some("sda".into()), ..device("sda2") },
        DeviceFacts {
            mapper_name: Some("rootvg-home".into()),
            mapper_kind: Some("LVM".into()),
            stacked_on: vec!["sda2".into()],
            ..device("dm-0")
        },
    ]);
    let classified = classify(&["sda", "rootvg-home"], Some(&facts));
    let expected = Device { class: DeviceClass::DeviceMapper, below: vec!["sda2".into()] };
    assert_eq!(classified["rootvg-home"], expected);
}

#[test]
fn a_recorded_partition_without_its_disk_stands_for_the_disk() {
    let facts = facts(vec![
        DeviceFacts { rotational: Some(true), ..device("sda") },
        DeviceFacts { partition_of: Some("sda".into()), ..device("sda2") },
    ]);
    assert_eq!(classify(&["sda2"], Some(&facts))["sda2"].class, DeviceClass::HardDisk);
    assert_eq!(classify(&["sda", "sda2"], Some(&facts))["sda2"].class, DeviceClass::Partition);
}

#[test]
fn paths_of_a_multipath_device_are_known_by_the_device_above() {
    let facts = facts(vec![
        device("sda"),
        device("sdb"),
        DeviceFacts {
            mapper_name: Some("lun7".into()),
            mapper_kind: Some("mpath".into()),
            stacked_on: vec!["sda".into(), "sdb".into()],
            ..device("dm-0")
        },
        DeviceFacts { hidden: true, transport: Some(Transport::Nvme), ..device("nvme0c0n1") },
    ]);
    assert_eq!(classify(&["sda"], Some(&facts))["sda"].class, DeviceClass::Disk);
    assert_eq!(classify(&["nvme0c0n1"], Some(&facts))["nvme0c0n1"].class, DeviceClass::Nvme);
    let classified = classify(&["sda", "sdb", "lun7", "dm-0", "nvme0n1", "nvme0c0n1"], Some(&facts));
    let class = |name: &str| classified[name].class;
    assert_eq!(class("dm-0"), DeviceClass::Multipath);
    assert!(["sda", "sdb", "nvme0c0n1"].iter().all(|path| class(path) == DeviceClass::MultipathPath));
}

#[test]
fn a_node_exists_only_for_a_name_of_the_host() {
    use DeviceClass::{DeviceMapper, Disk, MultipathPath, Nvme, Unknown};
    for (name, class, expected) in [
        ("sda", Disk, Some("/dev/sda")),
        ("nvme0n1", Nvme, Some("/dev/nvme0n1")),
        ("nvme0c0n1", MultipathPath, Some("/dev/nvme0n1")),
        ("cciss!c0d0", Disk, Some("/dev/cciss/c0d0")),
        ("dev8-16", Disk, Some("/dev/block/8:16")),
        ("dm-3", DeviceMapper, Some("/dev/dm-3")),
        ("rootvg-home", DeviceMapper, Some("/dev/mapper/rootvg-home")),
        ("drive 7", Unknown, None),
    ] {
        assert_eq!(node(name, class).as_deref(), expected, "{name}");
    }
}

#[test]
fn names_of_classes_are_distinct() {
    let names: BTreeSet<&str> = DeviceClass::ALL.iter().map(|class| class.as_str()).collect();
    assert_eq!(names.len(), DeviceClass::ALL.len());
}

/// Patterns of names, with `#` for a number and `@` for letters.
const TYPES: [&str; 14] = [
    "sd@",
    "vd@",
    "xvd@",
    "dasd@",
    "nvme#n#",
    "nvme#c#n#",
    "loop#",
    "dm-#",
    "md#",
    "sr#",
    "mmcblk#",
    "rbd#",
    "cciss!c#d#",
    "zram#",
];

fn spelled(pattern: &str, number: u32, letters: &str) -> String {
    pattern.replace('#', &number.to_string()).replace('@', letters)
}

proptest! {
    #[test]
    fn names_of_one_type_have_one_class(
        pattern in prop::sample::select(&TYPES), a in 0..500_u32, b in 0..500_u32, x in "[a-z]{1,2}", y in "[a-z]{1,2}",
    ) {
        prop_assert_eq!(class(&spelled(pattern, a, &x)), class(&spelled(pattern, b, &y)));
    }

    #[test]
    fn the_order_of_names_does_not_matter(names in prop::collection::vec("[a-z]{2,4}[0-9]{0,2}(-[0-9])?", 1..8)) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let reversed: Vec<&str> = names.iter().rev().copied().collect();
        prop_assert_eq!(classify(&names, None), classify(&reversed, None));
    }

    #[test]
    fn no_name_panics(name in "\\PC{0,20}", other in "dev[0-9]{0,10}-[0-9]{0,10}") {
        classify(&[&name, &other], None);
    }
}
