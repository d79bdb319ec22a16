//! The class of a device by its name, as the kernel, sysstat, PCP and collectl write it.

use super::class::DeviceClass;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Device(DeviceClass),
    /// A partition, if its disk is recorded too; `class` is that of the disk.
    Partition {
        disk: String,
        class: DeviceClass,
    },
    /// One path of a multipath device, if that is recorded too.
    Path {
        device: String,
    },
    /// `dev253-0`: the driver of the major number differs from host to host.
    DynamicMajor {
        major: u32,
        minor: u32,
    },
    /// Not a name of the kernel's: a registered device-mapper name, or one of another system.
    Unknown,
}

/// Disks named by letters; a number after them is a partition: `sda`, `sda1`.
const LETTERED: [(&str, DeviceClass); 9] = [
    ("xvd", DeviceClass::VirtualDisk),
    ("vd", DeviceClass::VirtualDisk),
    ("ubd", DeviceClass::VirtualDisk),
    ("dasd", DeviceClass::Disk),
    ("sd", DeviceClass::Disk),
    ("hd", DeviceClass::Disk),
    ("rssd", DeviceClass::Flash),
    ("mpath", DeviceClass::Multipath),
    ("emcpower", DeviceClass::Multipath),
];

/// Devices named by a number; `p` and a number after them is a partition: `md0`, `md0p1`.
const NUMBERED: [(&str, DeviceClass); 22] = [
    ("loop", DeviceClass::Loop),
    ("ram", DeviceClass::Ram),
    ("zram", DeviceClass::Zram),
    ("sr", DeviceClass::Optical),
    ("scd", DeviceClass::Optical),
    ("fd", DeviceClass::Floppy),
    ("dm-", DeviceClass::DeviceMapper),
    ("md", DeviceClass::Md),
    ("md_d", DeviceClass::Md),
    ("bcache", DeviceClass::Volume),
    ("zd", DeviceClass::Volume),
    ("nbd", DeviceClass::NetworkDisk),
    ("rbd", DeviceClass::NetworkDisk),
    ("drbd", DeviceClass::NetworkDisk),
    ("ublkb", DeviceClass::NetworkDisk),
    ("mmcblk", DeviceClass::Mmc),
    ("pmem", DeviceClass::Pmem),
    ("nullb", DeviceClass::Ram),
    ("ada", DeviceClass::Disk),
    ("da", DeviceClass::Disk),
    ("vtbd", DeviceClass::VirtualDisk),
    ("nda", DeviceClass::Nvme),
];

/// Hardware RAID controllers: `cciss/c0d0`, `cciss/c0d0p1`.
const CONTROLLERS: [&str; 3] = ["cciss/", "ida/", "rd/"];

pub(super) fn parse(name: &str) -> Named {
    // The kernel writes `cciss!c0d0` where the device node is `cciss/c0d0`.
    let plain = name.strip_prefix("/dev/").unwrap_or(name).replace('!', "/");
    if let Some(mapped) = plain.strip_prefix("mapper/") {
        return if mapped.is_empty() { Named::Unknown } else { Named::Device(DeviceClass::DeviceMapper) };
    }
    lettered(&plain)
        .or_else(|| nvme(&plain))
        .or_else(|| numbered(&plain))
        .or_else(|| controller(&plain))
        .or_else(|| by_number(&plain))
        .map_or(Named::Unknown, |named| named.in_spelling_of(name))
}

impl Named {
    /// The disk's name as the recording writes it.
    fn in_spelling_of(self, name: &str) -> Named {
        match self {
            Named::Partition { disk, class } if name.contains('!') => {
                Named::Partition { disk: disk.replace('/', "!"), class }
            }
            named => named,
        }
    }
}

fn partition(disk: &str, class: DeviceClass) -> Option<Named> {
    Some(Named::Partition { disk: disk.to_owned(), class })
}

fn lettered(name: &str) -> Option<Named> {
    let is_letters = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase());
    let disk = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let class = |disk: &str| {
        let of = |(prefix, _): &&(&str, DeviceClass)| disk.strip_prefix(*prefix).is_some_and(is_letters);
        LETTERED.iter().find(of).map(|(_, class)| *class)
    };
    match class(disk)? {
        class if disk.len() == name.len() => Some(Named::Device(class)),
        class => partition(disk, class),
    }
}

/// `nvme0n1`, `nvme0n1p2`, and `nvme0c1n1`, a path.
fn nvme(name: &str) -> Option<Named> {
    let (controller, rest) = digits(name.strip_prefix("nvme")?)?;
    let (path, rest) = match rest.strip_prefix('c') {
        Some(rest) => digits(rest).map(|(path, rest)| (Some(path), rest))?,
        None => (None, rest),
    };
    let (namespace, rest) = digits(rest.strip_prefix('n')?)?;
    match (path, rest.strip_prefix('p').and_then(digits)) {
        (Some(_), None) if rest.is_empty() => {
            Some(Named::Path { device: format!("nvme{controller}n{namespace}") })
        }
        (None, None) if rest.is_empty() => Some(Named::Device(DeviceClass::Nvme)),
        (None, Some((_, ""))) => partition(&format!("nvme{controller}n{namespace}"), DeviceClass::Nvme),
        _ => None,
    }
}

fn numbered(name: &str) -> Option<Named> {
    NUMBERED.iter().find_map(|&(prefix, class)| {
        let (number, rest) = digits(name.strip_prefix(prefix)?)?;
        let disk = format!("{prefix}{number}");
        match rest.strip_prefix('p').and_then(digits) {
            _ if rest.is_empty() => Some(Named::Device(class)),
            Some((_, "")) => partition(&disk, class),
            // Partitions that the card itself has: `mmcblk0boot0`, `mmcblk0rpmb`.
            _ if class == DeviceClass::Mmc => partition(&disk, class),
            // Densities: `fd0u1440`.
            _ if class == DeviceClass::Floppy && rest.starts_with(['u', 'h', 'd', 'H', 'D', 'C', 'E']) => {
                Some(Named::Device(class))
            }
            _ => None,
        }
    })
}

fn controller(name: &str) -> Option<Named> {
    if name.starts_with("etherd/") {
        return Some(Named::Device(DeviceClass::NetworkDisk));
    }
    let rest = CONTROLLERS.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    let (_, rest) = digits(rest.strip_prefix('c')?)?;
    let (_, rest) = digits(rest.strip_prefix('d')?)?;
    let disk = &name[..name.len() - rest.len()];
    match rest.strip_prefix('p').and_then(digits) {
        _ if rest.is_empty() => Some(Named::Device(DeviceClass::Disk)),
        Some((_, "")) => partition(disk, DeviceClass::Disk),
        _ => None,
    }
}

/// `dev8-16`, as `sar -d` without `-p` prints it: the meaning is that of Linux' list of device numbers.
fn by_number(name: &str) -> Option<Named> {
    let (major, minor) = device_number(name)?;
    // The number of minors per disk, of drivers that have partitions.
    let (class, per_disk) = match major {
        1 => (DeviceClass::Ram, 1),
        2 => (DeviceClass::Floppy, 1),
        3 | 22 | 33 | 34 | 56 | 57 | 88..=91 => (DeviceClass::Disk, 64),
        7 => (DeviceClass::Loop, 1),
        8 | 65..=71 | 128..=135 => (DeviceClass::Disk, 16),
        9 => (DeviceClass::Md, 1),
        11 => (DeviceClass::Optical, 1),
        43 => (DeviceClass::NetworkDisk, 1),
        48..=55 => (DeviceClass::Disk, 8),
        72..=79 | 104..=111 => (DeviceClass::Disk, 16),
        94 => (DeviceClass::Disk, 4),
        120 => (DeviceClass::Multipath, 16),
        147 => (DeviceClass::NetworkDisk, 1),
        152 => (DeviceClass::NetworkDisk, 16),
        179 => (DeviceClass::Mmc, 8),
        202 => (DeviceClass::VirtualDisk, 16),
        230 => (DeviceClass::Volume, 16),
        // Namespaces and their partitions count up together; `sar` lists the namespaces.
        259 => (DeviceClass::Nvme, 1),
        240..=254 => return Some(Named::DynamicMajor { major, minor }),
        _ => return None,
    };
    match minor % per_disk {
        0 => Some(Named::Device(class)),
        number => partition(&format!("dev{major}-{}", minor - number), class),
    }
}

/// The major and minor number in `dev8-16`.
pub(super) fn device_number(name: &str) -> Option<(u32, u32)> {
    let (major, minor) = name.strip_prefix("dev")?.split_once('-')?;
    let number = |text: &str| digits(text).filter(|(_, rest)| rest.is_empty())?.0.parse().ok();
    Some((number(major)?, number(minor)?))
}

/// Leading digits, and the rest; nothing without a digit.
fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}
