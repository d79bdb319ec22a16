//! Descriptors of processes, from /proc.

use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::scope::device_of;
use crate::tracepoints::Descriptor;

/// Empty if the process has ended.
pub(super) fn all(procfs: &Path, process: u32) -> Vec<Descriptor> {
    let entries = std::fs::read_dir(folder(procfs, process).join("fd")).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut all: Vec<Descriptor> = numbers.filter_map(|fd| one(procfs, process, fd)).collect();
    all.sort_by_key(|descriptor| descriptor.fd);
    all
}

/// None if it is closed.
pub(super) fn one(procfs: &Path, process: u32, fd: i32) -> Option<Descriptor> {
    let folder = folder(procfs, process);
    let link = folder.join("fd").join(fd.to_string());
    let target = std::fs::read_link(&link).ok()?;
    let info = std::fs::read_to_string(folder.join("fdinfo").join(fd.to_string())).unwrap_or_default();
    let value = |key: &str| info.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let flags = value("flags:").and_then(|flags| u32::from_str_radix(flags, 8).ok()).unwrap_or(0);
    Some(Descriptor {
        fd,
        target: target.to_string_lossy().into(),
        inode: value("ino:").and_then(|inode| inode.parse().ok()),
        device: device_of(&link),
        position: value("pos:").and_then(|position| position.parse().ok()),
        is_direct: flags & OFlags::DIRECT.bits() != 0,
    })
}

fn folder(procfs: &Path, process: u32) -> PathBuf {
    procfs.join(process.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_have_file_position_and_direct_flag() {
        let root = tempfile::tempdir().unwrap();
        for part in ["fd", "fdinfo"] {
            std::fs::create_dir_all(root.path().join("5").join(part)).unwrap();
        }
        std::os::unix::fs::symlink("/data/a b", root.path().join("5/fd/3")).unwrap();
        std::os::unix::fs::symlink("socket:[17]", root.path().join("5/fd/0")).unwrap();
        std::fs::write(
            root.path().join("5/fdinfo/3"),
            "pos:\t4096\nflags:\t0140000\nmnt_id:\t29\nino:\t12\n",
        )
        .unwrap();
        let found = all(root.path(), 5);
        assert_eq!((found.len(), &*found[0].target), (2, "socket:[17]"));
        let direct = OFlags::DIRECT.bits() == 0o40000;
        let file = Descriptor {
            fd: 3,
            target: "/data/a b".into(),
            inode: Some(12),
            device: None,
            position: Some(4096),
            is_direct: direct,
        };
        assert_eq!(found[1], file);
        assert!(all(root.path(), 6).is_empty() && one(root.path(), 5, 9).is_none());
    }
}
