//! Names of block devices. A file contains only their numbers.
//!
//! Numbers that Linux has fixed have the same name on every machine (`sdb`, not `dev8-16`). All others are assigned as
//! drivers load and are known only to the host, so the number is the name, spelt as in sysstat.

/// Major numbers of SCSI disks, in the order of the disks.
const SCSI_DISK_MAJORS: [u32; 16] = [8, 65, 66, 67, 68, 69, 70, 71, 128, 129, 130, 131, 132, 133, 134, 135];

pub(super) fn name(major: u32, minor: u32) -> String {
    match major {
        7 => format!("loop{minor}"),
        9 => format!("md{minor}"),
        11 => format!("sr{minor}"),
        _ => scsi_disk(major, minor).unwrap_or_else(|| format!("dev{major}-{minor}")),
    }
}

/// The low 4 bits of a minor number are the partition, the others the disk, with the index of the major number in
/// between (drivers/scsi/sd.c).
fn scsi_disk(major: u32, minor: u32) -> Option<String> {
    let place = SCSI_DISK_MAJORS.iter().position(|&m| m == major)? as u32;
    let disk = (minor & 0xfff00) | (place << 4) | (minor >> 4 & 0xf);
    let partition = minor & 0xf;
    (minor < 1 << 20).then(|| match partition {
        0 => format!("sd{}", letters(disk)),
        _ => format!("sd{}{partition}", letters(disk)),
    })
}

/// a, b, .. z, aa, ab, ..
fn letters(disk: u32) -> String {
    let last = char::from(b'a' + (disk % 26) as u8);
    match disk / 26 {
        0 => last.to_string(),
        more => letters(more - 1) + &last.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_numbers_have_the_names_operators_know() {
        let named =
            [(8, 0), (8, 17), (65, 160), (135, 240), (7, 12), (9, 127), (11, 0)].map(|(a, i)| name(a, i));
        assert_eq!(named, ["sda", "sdb1", "sdaa", "sdiv", "loop12", "md127", "sr0"]);
    }

    #[test]
    fn disks_past_256_use_the_high_bits_of_the_minor() {
        assert_eq!([name(8, 256), name(65, 256 + 1)], ["sdiw", "sdjm1"]);
        assert_eq!(name(8, 1 << 20), "dev8-1048576");
    }

    #[test]
    fn numbers_that_drivers_get_at_run_time_stay_numbers() {
        assert_eq!([name(253, 0), name(259, 3)], ["dev253-0", "dev259-3"]);
    }
}
