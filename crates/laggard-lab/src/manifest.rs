//! What a lab has made, or is about to make. Written before anything is made, so that a lab that was cut short can
//! still be taken down.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use crate::machine::LabError;
use crate::machine::limits::Limits;
use crate::plan::file::LabFile;

/// How far a lab has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Being built, or cut short.
    Building,
    /// All there.
    Up,
}

/// The manifest of a lab. All that a lab makes carries its mark or lies in its folder: processes and namespaces the
/// mark, loop devices and mounts the folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Of this form.
    pub version: u32,
    /// A word that no other lab has, in the command lines of its processes.
    pub mark: String,
    /// How far it has come.
    pub stage: Stage,
    /// What its loop devices were like.
    #[serde(default)]
    pub limits: Vec<Limits>,
    /// What it shall be.
    pub lab: LabFile,
}

const VERSION: u32 = 1;
const FILE: &str = "manifest.toml";
/// Where labs are, as a lab does not outlive a boot either.
pub const FOLDER: &str = "/run/laggard-lab";

impl Manifest {
    /// The manifest of a lab that nothing exists of yet.
    pub fn new(lab: LabFile) -> Manifest {
        let age = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let mark = format!("--mark={}-{:x}-{:x}", lab.name, age.as_micros(), std::process::id());
        Manifest { version: VERSION, mark, stage: Stage::Building, limits: vec![], lab }
    }

    /// The name of the file that is a server's disk. It carries the mark: of a file whose mount is gone, nothing but
    /// the name is left to see.
    pub fn disk_name(&self, host: &str) -> String {
        format!("{}{host}", self.disk_prefix())
    }

    /// How the names of all its disks begin.
    pub fn disk_prefix(&self) -> String {
        format!("{}.", self.mark.trim_start_matches("--mark="))
    }

    /// Reads the manifest in a lab's folder.
    pub fn read(folder: &Path) -> Result<Manifest, LabError> {
        let path = folder.join(FILE);
        let text = std::fs::read_to_string(&path).map_err(LabError::at(&path))?;
        let manifest: Manifest = toml::from_str(&text)
            .map_err(|error| LabError::Input(format!("{}: is no manifest: {error}", path.display())))?;
        // The mark of another program's process must never be taken for one of ours.
        if manifest.version != VERSION || !manifest.mark.starts_with("--mark=") || manifest.mark.len() < 16 {
            return Err(LabError::Input(format!("{}: is no manifest of this version", path.display())));
        }
        Ok(manifest)
    }

    /// Writes it, whole or not at all.
    pub fn write(&self, folder: &Path) -> Result<(), LabError> {
        let text = toml::to_string(self).map_err(|error| LabError::Input(error.to_string()))?;
        let (path, new) = (folder.join(FILE), folder.join("manifest.new"));
        std::fs::write(&new, text).map_err(LabError::at(&new))?;
        std::fs::rename(&new, &path).map_err(LabError::at(&path))
    }
}

/// The folder of a lab.
pub fn folder(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// The names of the labs there are.
pub fn names() -> Vec<String> {
    let entries = std::fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let labs = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = labs.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Held while a lab is built or taken down; ends with the process.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code, reason = "closing it gives the lock back")] File);

impl Lock {
    /// Takes the lock of a lab's folder, which must exist.
    pub fn take(folder: &Path) -> Result<Lock, LabError> {
        let file = File::open(folder).map_err(LabError::at(folder))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Lock(file)),
            Err(_) => Err(LabError::Input(format!(
                "{}: another laggard builds this lab or takes it down: wait for it, or end it",
                folder.display()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_is_not_ours_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::new(LabFile::default());
        manifest.limits = Limits::of("loop0").into_iter().collect();
        manifest.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), manifest);
        let path = folder.path().join(FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("--mark=", "")).unwrap();
        assert!(
            Manifest::read(folder.path()).unwrap_err().to_string().contains("no manifest of this version")
        );
        std::fs::write(&path, "x").unwrap();
        assert!(Manifest::read(folder.path()).unwrap_err().to_string().contains("is no manifest"));
    }

    #[test]
    fn only_one_at_a_time_works_on_a_lab() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(folder.path()).unwrap();
        assert!(Lock::take(folder.path()).unwrap_err().to_string().contains("another laggard"));
        drop(lock);
        assert!(Lock::take(folder.path()).is_ok());
    }
}
