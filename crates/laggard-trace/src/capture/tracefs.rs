//! Tracefs, through a private mount if it is not mounted.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use super::CaptureError;

const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Larger than any file that must be read with one call.
const PART: usize = 64 * 1024;

#[derive(Debug)]
pub struct Tracefs {
    root: PathBuf,
    /// A mount without a mount point: it disappears when it is closed, however the process ends.
    detached: Option<OwnedFd>,
}

impl Tracefs {
    /// The mounted tracefs, or a private mount.
    pub fn open() -> Result<Tracefs, CaptureError> {
        let mounted = PLACES.iter().map(Path::new).find(|place| place.join("instances").is_dir());
        if let Some(root) = mounted {
            return Ok(Tracefs { root: root.to_owned(), detached: None });
        }
        let mount = detached("tracefs").map_err(|error| {
            let how =
                "run as root on a kernel with tracefs, or `mount -t tracefs tracefs /sys/kernel/tracing`";
            CaptureError::Lacking(format!("tracefs: {error}: {how}"))
        })?;
        let root = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        Ok(Tracefs { root, detached: Some(mount) })
    }

    #[cfg(test)]
    pub fn at(root: &Path) -> Tracefs {
        Tracefs { root: root.to_owned(), detached: None }
    }

    pub fn is_mounted(&self) -> bool {
        self.detached.is_none()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub fn read(&self, name: &str) -> Result<String, CaptureError> {
        whole(&self.path(name)).map_err(|error| self.failed(name, error))
    }

    pub fn write(&self, name: &str, value: &str) -> Result<(), CaptureError> {
        self.put(name, value, OpenOptions::new().write(true).truncate(true))
    }

    pub fn append(&self, name: &str, value: &str) -> Result<(), CaptureError> {
        self.put(name, value, OpenOptions::new().append(true))
    }

    fn put(&self, name: &str, value: &str, options: &OpenOptions) -> Result<(), CaptureError> {
        // The kernel takes one write as one command.
        let put = |mut file: File| file.write_all(value.as_bytes());
        options.open(self.path(name)).and_then(put).map_err(|error| self.failed(name, error))
    }

    /// Sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn failed(&self, name: &str, error: io::Error) -> CaptureError {
        CaptureError::File { path: format!("tracefs/{name}"), error }
    }
}

/// Some files must be read with one call.
fn whole(path: &Path) -> io::Result<String> {
    let (mut file, mut text, mut part) = (File::open(path)?, vec![], vec![0; PART]);
    loop {
        match file.read(&mut part)? {
            0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
            length => text.extend(part.iter().take(length)),
        }
    }
}

/// A mount of a kernel file system without a mount point.
pub(super) fn detached(kind: &str) -> io::Result<OwnedFd> {
    let filesystem = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&filesystem)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(&filesystem, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}
