//! The manifest of a lab, written before anything is created, so that an incomplete lab can be taken down.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use crate::lab_file::contents::LabFile;
use crate::machine::LabError;
use crate::machine::limits::Limits;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Being built, or interrupted.
    Building,
    Up,
}

/// Everything that a lab creates carries its mark (processes, namespaces) or lies in its folder (loop devices, mounts).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub version: u32,
    /// A unique word in the command lines of its processes.
    pub mark: String,
    pub stage: Stage,
    /// The original limits of its loop devices.
    #[serde(default)]
    pub limits: Vec<Limits>,
    pub lab: LabFile,
}

const VERSION: u32 = 1;
const FILE: &str = "manifest.toml";
/// The folder of labs. Like a lab, it does not outlive a reboot.
pub const FOLDER: &str = "/run/laggard-lab";

impl Manifest {
    /// The manifest of a lab that does not exist yet.
    pub fn new(lab: LabFile) -> Manifest {
        let age = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let mark = format!("--mark={}-{:x}-{:x}", lab.name, age.as_micros(), std::process::id());
        Manifest { version: VERSION, mark, stage: Stage::Building, limits: vec![], lab }
    }

    /// The name of the file that is a server's disk. It carries the mark: the kernel shows only the name of a file whose
    /// mount is gone.
    pub fn disk_name(&self, host: &str) -> String {
        format!("{}{host}", self.disk_prefix())
    }

    /// The prefix of the names of all its disks.
    pub fn disk_prefix(&self) -> String {
        format!("{}.", self.mark.trim_start_matches("--mark="))
    }

    pub fn read(folder: &Path) -> Result<Manifest, LabError> {
        let path = folder.join(FILE);
        let text = std::fs::read_to_string(&path).map_err(LabError::at(&path))?;
        let manifest: Manifest = toml::from_str(&text)
            .map_err(|error| LabError::Input(format!("{}: is not a manifest: {error}", path.display())))?;
        // The mark must never match a process of another program.
        if manifest.version != VERSION || !manifest.mark.starts_with("--mark=") || manifest.mark.len() < 16 {
            return Err(LabError::Input(format!("{}: is not a manifest of this version", path.display())));
        }
        Ok(manifest)
    }

    /// Writes it atomically.
    pub fn write(&self, folder: &Path) -> Result<(), LabError> {
        let text = toml::to_string(self).map_err(|error| LabError::Input(error.to_string()))?;
        let (path, new) = (folder.join(FILE), folder.join("manifest.new"));
        std::fs::write(&new, text).map_err(LabError::at(&new))?;
        std::fs::rename(&new, &path).map_err(LabError::at(&path))
    }
}

pub fn folder(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// The names of all labs.
pub fn names() -> Vec<String> {
    let entries = std::fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let labs = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = labs.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Held while a lab is built or taken down; released when the process ends.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code, reason = "closing it releases the lock")] File);

impl Lock {
    /// The folder must exist.
    pub fn take(folder: &Path) -> Result<Lock, LabError> {
        let file = File::open(folder).map_err(LabError::at(folder))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Lock(file)),
            Err(_) => Err(LabError::Input(format!(
                "{}: another laggard process is building this lab or taking it down: wait for it, or end it",
                folder.display()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_read_as_written_and_others_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::new(LabFile::default());
        manifest.limits = Limits::of("loop0").into_iter().collect();
        manifest.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), manifest);
        let path = folder.path().join(FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("--mark=", "")).unwrap();
        assert!(
            Manifest::read(folder.path()).unwrap_err().to_string().contains("not a manifest of this version")
        );
        std::fs::write(&path, "x").unwrap();
        assert!(Manifest::read(folder.path()).unwrap_err().to_string().contains("is not a manifest"));
    }

    #[test]
    fn only_one_process_changes_a_lab() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(folder.path()).unwrap();
        assert!(Lock::take(folder.path()).unwrap_err().to_string().contains("another laggard"));
        drop(lock);
        assert!(Lock::take(folder.path()).is_ok());
    }
}
