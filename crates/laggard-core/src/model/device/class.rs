//! The classes, and what they mean for a comparison.

use std::fmt;

use serde::{Serialize, Serializer};

/// Devices of one class work alike; devices of different classes are not peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceClass {
    /// Rotating.
    HardDisk,
    /// SATA or SAS flash.
    Flash,
    /// A disk of unknown medium: `sda`, where nothing else was recorded.
    Disk,
    Nvme,
    /// A disk that a hypervisor provides: `vda`, `xvda`.
    VirtualDisk,
    /// A disk of an array, by iSCSI or Fibre Channel.
    Lun,
    /// A device-mapper or vendor device that joins several paths to one LUN: `mpatha`.
    Multipath,
    /// Served over the network: `nbd0`, `rbd0`, `drbd0`.
    NetworkDisk,
    Usb,
    Mmc,
    /// Persistent memory.
    Pmem,
    /// A name that is not one of a Linux device.
    Unknown,

    DeviceMapper,
    Md,
    /// Other volumes that are stacked on devices: `bcache0`, `zd0`.
    Volume,
    Loop,

    Partition,
    /// One path of a multipath device: `nvme0c0n1`.
    MultipathPath,
    Optical,
    Floppy,
    Ram,
    Zram,
}

/// The part that the devices of a class play in a comparison, unless the cluster file says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Compared with other devices of its class.
    Compared,
    /// Compared only on hosts of which nothing better was recorded: its requests end up on other devices.
    Substitute,
    /// Never compared.
    LeftOut,
}

impl DeviceClass {
    pub const ALL: [DeviceClass; 22] = [
        DeviceClass::HardDisk,
        DeviceClass::Flash,
        DeviceClass::Disk,
        DeviceClass::Nvme,
        DeviceClass::VirtualDisk,
        DeviceClass::Lun,
        DeviceClass::Multipath,
        DeviceClass::NetworkDisk,
        DeviceClass::Usb,
        DeviceClass::Mmc,
        DeviceClass::Pmem,
        DeviceClass::Unknown,
        DeviceClass::DeviceMapper,
        DeviceClass::Md,
        DeviceClass::Volume,
        DeviceClass::Loop,
        DeviceClass::Partition,
        DeviceClass::MultipathPath,
        DeviceClass::Optical,
        DeviceClass::Floppy,
        DeviceClass::Ram,
        DeviceClass::Zram,
    ];

    /// As in JSON and as the attribute `class`.
    pub fn as_str(self) -> &'static str {
        match self {
            DeviceClass::HardDisk => "hard-disk",
            DeviceClass::Flash => "flash",
            DeviceClass::Disk => "disk",
            DeviceClass::Nvme => "nvme",
            DeviceClass::VirtualDisk => "virtual-disk",
            DeviceClass::Lun => "lun",
            DeviceClass::Multipath => "multipath",
            DeviceClass::NetworkDisk => "network-disk",
            DeviceClass::Usb => "usb",
            DeviceClass::Mmc => "mmc",
            DeviceClass::Pmem => "pmem",
            DeviceClass::Unknown => "unknown",
            DeviceClass::DeviceMapper => "dm",
            DeviceClass::Md => "md",
            DeviceClass::Volume => "volume",
            DeviceClass::Loop => "loop",
            DeviceClass::Partition => "partition",
            DeviceClass::MultipathPath => "multipath-path",
            DeviceClass::Optical => "optical",
            DeviceClass::Floppy => "floppy",
            DeviceClass::Ram => "ram",
            DeviceClass::Zram => "zram",
        }
    }

    pub fn standing(self) -> Standing {
        match self {
            DeviceClass::HardDisk
            | DeviceClass::Flash
            | DeviceClass::Disk
            | DeviceClass::Nvme
            | DeviceClass::VirtualDisk
            | DeviceClass::Lun
            | DeviceClass::Multipath
            | DeviceClass::NetworkDisk
            | DeviceClass::Usb
            | DeviceClass::Mmc
            | DeviceClass::Pmem
            | DeviceClass::Unknown => Standing::Compared,
            DeviceClass::DeviceMapper | DeviceClass::Md | DeviceClass::Volume | DeviceClass::Loop => {
                Standing::Substitute
            }
            DeviceClass::Partition
            | DeviceClass::MultipathPath
            | DeviceClass::Optical
            | DeviceClass::Floppy
            | DeviceClass::Ram
            | DeviceClass::Zram => Standing::LeftOut,
        }
    }

    /// True if a name of this class does not tell the medium or the transport.
    pub(super) fn is_refined_by_facts(self) -> bool {
        matches!(self, DeviceClass::Disk | DeviceClass::VirtualDisk | DeviceClass::Unknown)
    }
}

impl fmt::Display for DeviceClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for DeviceClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
