//! What a recorder is about to make in the kernel, written down before it is made: so that it can be undone by others
//! when the recorder is killed.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::CaptureError;

/// Where manifests are: what they tell of does not outlive a boot either.
pub const FOLDER: &str = "/run/laggard-trace";
const VERSION: u32 = 1;
const ENDING: &str = "toml";

/// All that a recorder makes carries its mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Of this form.
    pub version: u32,
    /// A word that no other recorder has.
    pub mark: String,
    /// Trace instances.
    pub instances: Vec<String>,
    /// The group of the probes in user programs.
    pub probes: String,
}

impl Manifest {
    /// The manifest of a recorder that has made nothing yet.
    pub fn fresh() -> Manifest {
        let age = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        Manifest::marked(&format!("{:x}_{:x}", std::process::id(), age.as_micros()))
    }

    fn marked(mark: &str) -> Manifest {
        let instances = ["", "_all"].map(|part| format!("laggard_{mark}{part}")).into();
        Manifest { version: VERSION, mark: mark.into(), instances, probes: format!("laggard_{mark}") }
    }

    /// Reads a manifest; what is not ours is refused.
    pub fn read(path: &Path) -> Result<Manifest, CaptureError> {
        let text = std::fs::read_to_string(path).map_err(CaptureError::at(path))?;
        let wrong = || CaptureError::Input(format!("{}: is no manifest of this version", path.display()));
        let manifest: Manifest = toml::from_str(&text).map_err(|_| wrong())?;
        // Whoever undoes it removes what it names: no name but the ones that we give may be in it.
        let is_ours = manifest.mark.len() > 8 && manifest == Manifest::marked(&manifest.mark);
        if is_ours { Ok(manifest) } else { Err(wrong()) }
    }
}

/// A manifest on disk, locked while its recorder or the guard lives.
#[derive(Debug)]
pub struct Written {
    /// What it says.
    pub manifest: Manifest,
    path: PathBuf,
    lock: File,
}

impl Written {
    /// Writes a manifest. It is locked before others can find it.
    pub fn create(folder: &Path, manifest: Manifest) -> Result<Written, CaptureError> {
        let path = folder.join(&manifest.mark).with_extension(ENDING);
        let new = path.with_extension("new");
        let text = toml::to_string(&manifest).map_err(|error| CaptureError::Input(error.to_string()))?;
        let lock = make(folder, &new).map_err(CaptureError::at(&new))?;
        take(&lock).then_some(()).ok_or_else(|| busy(&new))?;
        std::io::Write::write_all(&mut &lock, text.as_bytes()).map_err(CaptureError::at(&new))?;
        std::fs::rename(&new, &path).map_err(CaptureError::at(&path))?;
        Ok(Written { manifest, path, lock })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The lock, for one who shall hold it too.
    pub fn share(&self) -> Result<File, CaptureError> {
        self.lock.try_clone().map_err(CaptureError::at(&self.path))
    }

    /// Removes it, when all that it names is gone; and the folder with the last one.
    pub fn remove(self) -> Result<(), CaptureError> {
        remove(&self.path)
    }
}

/// Removes a manifest that may be gone already.
pub fn remove(path: &Path) -> Result<(), CaptureError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(CaptureError::at(path)(error));
        }
        _ => {}
    }
    // Others may have theirs in it.
    let _ = path.parent().map(std::fs::remove_dir);
    Ok(())
}

/// The manifests whose recorder and guard are dead. The lock is held while one is dealt with.
pub fn orphans(folder: &Path) -> Vec<(PathBuf, File)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let locked = entries.filter_map(|entry| Some((entry.path(), File::open(entry.path()).ok()?)));
    locked.filter(|(_, file)| take(file)).collect()
}

/// Another one may remove the folder when its last manifest is gone, so it is made until it lasts.
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
    CaptureError::Input(format!("{}: another recorder has it", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_what_is_not_ours_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let written = Written::create(folder.path(), Manifest::fresh()).unwrap();
        let path = written.path().to_owned();
        assert_eq!(Manifest::read(&path).unwrap(), written.manifest);
        let text = std::fs::read_to_string(&path).unwrap();
        for other in [text.replace("\"laggard_", "\"foreign_"), "x".into(), String::new()] {
            std::fs::write(&path, other).unwrap();
            assert!(Manifest::read(&path).unwrap_err().to_string().contains("no manifest of this version"));
        }
    }

    #[test]
    fn a_manifest_is_an_orphan_once_nobody_holds_its_lock() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("trace");
        let written = Written::create(&folder, Manifest::fresh()).unwrap();
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
