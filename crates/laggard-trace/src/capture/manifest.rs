//! The list of kernel objects that a recorder is about to create, written before they are created, so that other
//! processes can remove them if the recorder is killed.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::CaptureError;

/// In /run, since the kernel objects do not survive a reboot either.
pub(super) const FOLDER: &str = "/run/laggard-trace";
const VERSION: u32 = 1;
const ENDING: &str = "toml";

/// The names of all objects contain the mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub version: u32,
    /// Unique for each recorder.
    pub mark: String,
    pub instances: Vec<String>,
    /// The group of probes in user programs.
    pub probes: String,
}

impl Manifest {
    pub fn new() -> Manifest {
        let age = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        Manifest::marked(&format!("{:x}_{:x}", std::process::id(), age.as_micros()))
    }

    fn marked(mark: &str) -> Manifest {
        let instances = ["", "_all"].map(|part| format!("laggard_{mark}{part}")).into();
        Manifest { version: VERSION, mark: mark.into(), instances, probes: format!("laggard_{mark}") }
    }

    /// Refuses files that were not written by this version.
    pub fn read(path: &Path) -> Result<Manifest, CaptureError> {
        let text = std::fs::read_to_string(path).map_err(CaptureError::at(path))?;
        let wrong = || CaptureError::Input(format!("{}: is not a manifest of this version", path.display()));
        let manifest: Manifest = toml::from_str(&text).map_err(|_| wrong())?;
        // The named objects will be removed, so only names of our own are accepted.
        let is_ours = manifest.mark.len() > 8 && manifest == Manifest::marked(&manifest.mark);
        if is_ours { Ok(manifest) } else { Err(wrong()) }
    }
}

/// A manifest on disk, locked while its recorder or guard is alive.
#[derive(Debug)]
pub struct LockedManifest {
    pub manifest: Manifest,
    path: PathBuf,
    lock: File,
}

impl LockedManifest {
    /// Locks the file before others can find it.
    pub fn create(folder: &Path, manifest: Manifest) -> Result<LockedManifest, CaptureError> {
        let path = folder.join(&manifest.mark).with_extension(ENDING);
        let new = path.with_extension("new");
        let text = toml::to_string(&manifest).map_err(|error| CaptureError::Input(error.to_string()))?;
        let lock = make(folder, &new).map_err(CaptureError::at(&new))?;
        take(&lock).then_some(()).ok_or_else(|| busy(&new))?;
        std::io::Write::write_all(&mut &lock, text.as_bytes()).map_err(CaptureError::at(&new))?;
        std::fs::rename(&new, &path).map_err(CaptureError::at(&path))?;
        Ok(LockedManifest { manifest, path, lock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A handle for a process that shall hold the lock, too.
    pub fn share(&self) -> Result<File, CaptureError> {
        self.lock.try_clone().map_err(CaptureError::at(&self.path))
    }

    /// Call after the named objects are removed. Removes the folder with the last manifest.
    pub fn remove(self) -> Result<(), CaptureError> {
        remove(&self.path)
    }
}

/// Succeeds if the file does not exist.
pub(super) fn remove(path: &Path) -> Result<(), CaptureError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(CaptureError::at(path)(error));
        }
        _ => {}
    }
    // Fails if the folder contains other manifests.
    let _ = path.parent().map(std::fs::remove_dir);
    Ok(())
}

/// Manifests of dead recorders with dead guards. The returned file holds the lock.
pub(super) fn orphans(folder: &Path) -> Vec<(PathBuf, File)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let locked = entries.filter_map(|entry| Some((entry.path(), File::open(entry.path()).ok()?)));
    locked.filter(|(_, file)| take(file)).collect()
}

/// Retries, since another recorder may remove the folder with its last manifest.
fn make(folder: &Path, path: &Path) -> std::io::Result<File> {
    let open = || {
        std::fs::create_dir_all(folder)?;
        OpenOptions::new().write(true).create_new(true).open(path)
    };
    (0..100).map(|_| open()).find(Result::is_ok).unwrap_or_else(open)
}

fn take(file: &File) -> bool {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

fn busy(path: &Path) -> CaptureError {
    CaptureError::Input(format!("{}: in use by another recorder", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_manifest_is_read_and_a_foreign_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let written = LockedManifest::create(folder.path(), Manifest::new()).unwrap();
        let path = written.path().to_owned();
        assert_eq!(Manifest::read(&path).unwrap(), written.manifest);
        let text = std::fs::read_to_string(&path).unwrap();
        for other in [text.replace("\"laggard_", "\"foreign_"), "x".into(), String::new()] {
            std::fs::write(&path, other).unwrap();
            assert!(
                Manifest::read(&path).unwrap_err().to_string().contains("not a manifest of this version")
            );
        }
    }

    #[test]
    fn a_manifest_without_a_lock_holder_is_an_orphan() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("trace");
        let written = LockedManifest::create(&folder, Manifest::new()).unwrap();
        let guard = written.share().unwrap();
        drop(written);
        assert!(orphans(&folder).is_empty());
        drop(guard);
        let left = orphans(&folder);
        assert_eq!(left.len(), 1);
        remove(&left[0].0).unwrap();
        remove(&left[0].0).unwrap();
        assert!(!folder.exists());
    }
}
