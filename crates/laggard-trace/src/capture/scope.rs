//! The processes, files and devices that are captured.

use std::path::{Path, PathBuf};

use regex::Regex;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};

use super::CaptureError;
use crate::tracepoints::Device;

/// `FUSE_SUPER_MAGIC`
const FUSE: rustix::fs::FsWord = 0x6573_5546;

/// The limits of a capture. Processes that match any of the first three are captured with their children.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub processes: Vec<u32>,
    pub comm: Option<Regex>,
    /// Including groups below it.
    pub cgroup: Option<PathBuf>,
    /// True if the recorder starts a command.
    pub has_command: bool,
    /// Servers of a parallel file system, by name; captured in addition.
    pub servers: Vec<Regex>,
    /// Servers by process id.
    pub server_processes: Vec<u32>,
    /// Only files of this file system, and its device or FUSE connection.
    pub mount: Option<Mount>,
    pub device: Option<Device>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub folder: PathBuf,
    /// For a FUSE mount its minor number is the connection.
    pub device: Device,
    pub is_fuse: bool,
    /// Set if the folder is not the root of the file system: only files below it.
    pub below: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub number: u32,
    pub comm: String,
}

impl Scope {
    /// True if the capture is limited to some processes.
    pub fn is_chosen(&self) -> bool {
        self.has_command || !self.processes.is_empty() || self.comm.is_some() || self.cgroup.is_some()
    }

    /// True if the name of a process matches.
    pub fn fits_name(&self, comm: &str) -> bool {
        self.comm.as_ref().is_some_and(|pattern| pattern.is_match(comm)) || self.is_server_name(comm)
    }

    pub fn is_server(&self, process: &Process) -> bool {
        self.server_processes.contains(&process.number) || self.is_server_name(&process.comm)
    }

    fn is_server_name(&self, comm: &str) -> bool {
        self.servers.iter().any(|pattern| pattern.is_match(comm))
    }

    /// The matching processes that exist now.
    pub fn now(&self, procfs: &Path) -> Result<Vec<Process>, CaptureError> {
        let mut found = vec![];
        let members = self.members()?;
        for process in processes(procfs) {
            let is_named = self.fits_name(&process.comm) || self.is_server(&process);
            let is_listed = self.processes.contains(&process.number) || members.contains(&process.number);
            let is_daemon = self.is_chosen() && self.is_daemon(procfs, process.number);
            if is_named || is_listed || is_daemon {
                found.push(process);
            }
        }
        let mut named = self.processes.iter().chain(&self.server_processes);
        match named.find(|number| !found.iter().any(|process| process.number == **number)) {
            Some(absent) => Err(CaptureError::Input(format!("there is no process {absent}"))),
            None => Ok(found),
        }
    }

    pub fn members(&self) -> Result<Vec<u32>, CaptureError> {
        let Some(group) = &self.cgroup else { return Ok(vec![]) };
        let (mut members, mut left) = (vec![], vec![group.clone()]);
        let path = group.join("cgroup.procs");
        std::fs::metadata(&path).map_err(CaptureError::at(&path))?;
        while let Some(folder) = left.pop() {
            let list = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            members.extend(list.lines().filter_map(|line| line.parse::<u32>().ok()));
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            left.extend(entries.map(|entry| entry.path()).filter(|path| path.is_dir()));
        }
        Ok(members)
    }

    /// True if the process serves the FUSE mount of this scope.
    pub fn is_daemon(&self, procfs: &Path, process: u32) -> bool {
        let Some(mount) = self.mount.as_ref().filter(|mount| mount.is_fuse) else { return false };
        let folder = procfs.join(process.to_string());
        let entries = std::fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
        let fuse = entries.filter(|entry| {
            std::fs::read_link(entry.path()).is_ok_and(|target| target == Path::new("/dev/fuse"))
        });
        let info_of =
            |name: std::ffi::OsString| std::fs::read_to_string(folder.join("fdinfo").join(name)).ok();
        fuse.filter_map(|entry| info_of(entry.file_name())).any(|info| serves(&info, mount.device))
    }
}

/// Older kernels do not report the connection: there, every FUSE daemon matches.
fn serves(info: &str, device: Device) -> bool {
    let line = info.lines().find_map(|line| line.strip_prefix("fuse_connection:"));
    line.is_none_or(|connection| connection.trim().parse() == Ok(device.minor))
}

pub(super) fn processes(procfs: &Path) -> Vec<Process> {
    let entries = std::fs::read_dir(procfs).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let process = |number: u32| {
        let comm = std::fs::read_to_string(procfs.join(number.to_string()).join("comm")).ok()?;
        Some(Process { number, comm: comm.trim_end().to_owned() })
    };
    numbers.filter_map(process).collect()
}

pub(super) fn threads(procfs: &Path, process: u32) -> Vec<u32> {
    let folder = procfs.join(process.to_string()).join("task");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

impl Mount {
    /// Also accepts another mount namespace: `/proc/PID/root/mnt`.
    pub fn of(folder: &Path) -> Result<Mount, CaptureError> {
        let failed = |error: rustix::io::Errno| CaptureError::at(folder)(error.into());
        let device = device_of(folder).ok_or_else(|| {
            CaptureError::Input(format!("{}: is not a folder of a mounted file system", folder.display()))
        })?;
        let is_fuse = rustix::fs::statfs(folder).map_err(failed)?.f_type == FUSE;
        let is_top = device_of(&folder.join("..")) != Some(device) || folder == Path::new("/");
        let below = if is_top { None } else { std::fs::canonicalize(folder).ok() };
        Ok(Mount { folder: folder.to_owned(), device, is_fuse, below })
    }

    /// `link` is the file's link in /proc/PID/fd.
    pub fn has(&self, device: Device, link: &Path) -> bool {
        let is_below = |folder: &Path| std::fs::read_link(link).is_ok_and(|file| file.starts_with(folder));
        device == self.device && self.below.as_deref().is_none_or(is_below)
    }
}

/// The device of a file, or the device that a device file represents. Does not call the daemon of a FUSE mount.
pub(super) fn device_of(path: &Path) -> Option<Device> {
    let status = rustix::fs::statx(CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()?;
    let is_block = FileType::from_raw_mode(status.stx_mode.into()) == FileType::BlockDevice;
    Some(if is_block {
        Device { major: status.stx_rdev_major, minor: status.stx_rdev_minor }
    } else {
        Device { major: status.stx_dev_major, minor: status.stx_dev_minor }
    })
}

/// Accepts `/dev/sdb`, `sdb` and `8:16`.
pub fn device(name: &str, sysfs: &Path) -> Result<Device, CaptureError> {
    let wrong = || CaptureError::Input(format!("{name}: is not a block device: write sdb, /dev/sdb or 8:16"));
    let numbers = if name.contains(':') {
        name.to_owned()
    } else {
        let real = std::fs::canonicalize(name).unwrap_or_else(|_| PathBuf::from(name));
        let name = real.file_name().ok_or_else(wrong)?;
        std::fs::read_to_string(sysfs.join("class/block").join(name).join("dev")).map_err(|_| wrong())?
    };
    numbered(numbers.trim()).ok_or_else(wrong)
}

fn numbered(text: &str) -> Option<Device> {
    let (major, minor) = text.split_once(':')?;
    Some(Device { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

/// The disk of a partition; a disk is returned unchanged. Bios are queued on the partition, requests are reported
/// for the disk.
pub(super) fn disk(device: Device, sysfs: &Path) -> Device {
    let folder = sysfs.join("dev/block").join(format!("{}:{}", device.major, device.minor));
    if !folder.join("partition").exists() {
        return device;
    }
    let parent = std::fs::canonicalize(folder).ok().and_then(|folder| Some(folder.parent()?.join("dev")));
    let numbers = parent.and_then(|path| std::fs::read_to_string(path).ok());
    numbers.and_then(|text| numbered(text.trim())).unwrap_or(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree like /proc with a fio and the daemon of FUSE connection 52.
    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (number, comm) in [(5, "fio"), (8, "glusterfs"), (9, "glusterfsd")] {
            let folder = root.path().join(number.to_string());
            for part in ["fd", "fdinfo", "task/77"] {
                std::fs::create_dir_all(folder.join(part)).unwrap();
            }
            std::fs::write(folder.join("comm"), format!("{comm}\n")).unwrap();
        }
        std::os::unix::fs::symlink("/dev/fuse", root.path().join("8/fd/4")).unwrap();
        std::fs::write(root.path().join("8/fdinfo/4"), "pos:\t0\nfuse_connection:\t52\n").unwrap();
        root
    }

    fn names(scope: &Scope, root: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            scope.now(root).unwrap().into_iter().map(|process| process.comm).collect();
        names.sort();
        names
    }

    #[test]
    fn processes_are_found_by_id_by_name_and_as_daemons_of_the_mount() {
        let root = tree();
        let mut scope = Scope { processes: vec![5], ..Scope::default() };
        assert_eq!(names(&scope, root.path()), ["fio"]);
        scope.servers = vec![Regex::new("^glusterfsd$").unwrap()];
        assert_eq!(names(&scope, root.path()), ["fio", "glusterfsd"]);
        let by_number = Scope { servers: vec![], server_processes: vec![9], ..scope.clone() };
        assert_eq!(names(&by_number, root.path()), ["fio", "glusterfsd"]);
        let device = Device { major: 0, minor: 52 };
        scope.mount = Some(Mount { folder: "/mnt".into(), device, is_fuse: true, below: None });
        assert_eq!(names(&scope, root.path()), ["fio", "glusterfs", "glusterfsd"]);
        scope.mount = Some(Mount {
            folder: "/mnt".into(),
            device: Device { major: 0, minor: 53 },
            is_fuse: true,
            below: None,
        });
        assert_eq!(names(&scope, root.path()), ["fio", "glusterfsd"]);
        scope.processes = vec![6];
        assert_eq!(scope.now(root.path()).unwrap_err().to_string(), "there is no process 6");
        assert_eq!(threads(root.path(), 5), [77]);
    }

    #[test]
    fn a_control_group_has_the_members_of_those_below_it() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("below")).unwrap();
        std::fs::write(root.path().join("cgroup.procs"), "3\n").unwrap();
        std::fs::write(root.path().join("below/cgroup.procs"), "4\n5\n").unwrap();
        let scope = |path: &Path| Scope { cgroup: Some(path.to_owned()), ..Scope::default() };
        assert_eq!(scope(root.path()).members().unwrap(), [3, 4, 5]);
        assert!(scope(&root.path().join("absent")).members().is_err());
    }

    #[test]
    fn a_file_is_on_the_file_system_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let mount = Mount::of(folder.path()).unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, "").unwrap();
        assert_eq!(device_of(&file), Some(mount.device));
        assert_ne!(device_of(Path::new("/proc/self")), Some(mount.device));
        assert!(!mount.is_fuse && Mount::of(&folder.path().join("absent")).is_err());
        let (inside, outside) = (folder.path().join("link"), folder.path().join("other"));
        std::os::unix::fs::symlink(&file, &inside).unwrap();
        std::os::unix::fs::symlink("/x", &outside).unwrap();
        assert!(mount.has(mount.device, &inside) && !mount.has(mount.device, &outside));
        assert_eq!(Mount::of(Path::new("/")).unwrap().below, None);
    }

    #[test]
    fn a_partition_belongs_to_its_disk() {
        let root = tempfile::tempdir().unwrap();
        let disk_folder = root.path().join("devices/sdb");
        std::fs::create_dir_all(disk_folder.join("sdb1")).unwrap();
        std::fs::create_dir_all(root.path().join("dev/block")).unwrap();
        std::fs::create_dir_all(root.path().join("class/block")).unwrap();
        std::fs::write(disk_folder.join("dev"), "8:16\n").unwrap();
        std::fs::write(disk_folder.join("sdb1/dev"), "8:17\n").unwrap();
        std::fs::write(disk_folder.join("sdb1/partition"), "1\n").unwrap();
        for (link, to) in [("dev/block/8:17", "sdb1"), ("dev/block/8:16", "."), ("class/block/sdb1", "sdb1")]
        {
            std::os::unix::fs::symlink(disk_folder.join(to), root.path().join(link)).unwrap();
        }
        let part = device("sdb1", root.path()).unwrap();
        assert_eq!(part, Device { major: 8, minor: 17 });
        assert_eq!(disk(part, root.path()), Device { major: 8, minor: 16 });
        assert_eq!(disk(Device { major: 8, minor: 16 }, root.path()), Device { major: 8, minor: 16 });
        assert!(device("sdz", root.path()).unwrap_err().to_string().contains("is not a block device"));
    }
}
