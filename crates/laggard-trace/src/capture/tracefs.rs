//! The kernel's tracing files, through a mount that nobody else sees where none is there.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use super::CaptureError;

/// Where distributions mount it.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// More than any file has that is told at once.
const PART: usize = 64 * 1024;

/// The folder of the kernel's tracing files.
#[derive(Debug)]
pub struct Tracefs {
    root: PathBuf,
    /// A mount that hangs in no tree: it is gone when this is closed, however the process ends.
    detached: Option<OwnedFd>,
}

impl Tracefs {
    /// The one that is mounted, or one of our own.
    pub fn open() -> Result<Tracefs, CaptureError> {
        let mounted = PLACES.iter().map(Path::new).find(|place| place.join("instances").is_dir());
        if let Some(root) = mounted {
            return Ok(Tracefs { root: root.to_owned(), detached: None });
        }
        let mount = detached("tracefs").map_err(|error| {
            let how = "be root, on a kernel with tracefs; or `mount -t tracefs tracefs /sys/kernel/tracing`";
            CaptureError::Lacking(format!("tracefs: {error}: {how}"))
        })?;
        let root = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        Ok(Tracefs { root, detached: Some(mount) })
    }

    /// Some other tree, for tests.
    #[cfg(test)]
    pub fn at(root: &Path) -> Tracefs {
        Tracefs { root: root.to_owned(), detached: None }
    }

    /// Whether it was there before.
    pub fn is_mounted(&self) -> bool {
        self.detached.is_none()
    }

    /// A file or folder of it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Whether there is such a file.
    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// What is in a file.
    pub fn read(&self, name: &str) -> Result<String, CaptureError> {
        whole(&self.path(name)).map_err(|error| self.failed(name, error))
    }

    /// Sets a file.
    pub fn write(&self, name: &str, value: &str) -> Result<(), CaptureError> {
        self.put(name, value, OpenOptions::new().write(true).truncate(true))
    }

    /// Adds to a file that is a list.
    pub fn append(&self, name: &str, value: &str) -> Result<(), CaptureError> {
        self.put(name, value, OpenOptions::new().append(true))
    }

    fn put(&self, name: &str, value: &str, options: &OpenOptions) -> Result<(), CaptureError> {
        // The kernel takes one write as one command.
        let put = |mut file: File| file.write_all(value.as_bytes());
        options.open(self.path(name)).and_then(put).map_err(|error| self.failed(name, error))
    }

    /// The names in a folder, sorted.
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

/// Some files are told only to one who asks for all at once.
fn whole(path: &Path) -> io::Result<String> {
    let (mut file, mut text, mut part) = (File::open(path)?, vec![], vec![0; PART]);
    loop {
        match file.read(&mut part)? {
            0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
            length => text.extend(part.iter().take(length)),
        }
    }
}

/// A mount of a file system of the kernel that hangs in no tree.
pub fn detached(kind: &str) -> io::Result<OwnedFd> {
    let filesystem = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&filesystem)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(&filesystem, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}
