//! Removes a lab.

use std::path::Path;

use super::role;
use crate::lab_manifest::{self, Lock, Manifest};
use crate::machine::cgroup::MemoryCgroup;
use crate::machine::waiting::wait_for;
use crate::machine::{LabError, loops, processes};

/// Removes a lab, also a half-built one or one whose processes have ended. What does not have its mark is left alone.
pub fn down(name: &str) -> Result<(), LabError> {
    let folder = lab_manifest::folder(name);
    let lock = Lock::take(&folder)?;
    if let Some(manifest) = manifest_of(&folder)? {
        let prefix = manifest.disk_prefix();
        manifest.limits.iter().try_for_each(|limits| limits.restore(&prefix))?;
        end_processes(&manifest.mark)?;
        detach_loops(&prefix)?;
        MemoryCgroup::remove_all(&prefix)?;
        std::fs::remove_dir_all(&folder).map_err(LabError::at(&folder))?;
    }
    drop(lock);
    // Fails while other labs exist.
    let _ = std::fs::remove_dir(lab_manifest::FOLDER);
    Ok(())
}

/// The manifest. If construction failed before there was one, removes the empty folder.
fn manifest_of(folder: &Path) -> Result<Option<Manifest>, LabError> {
    if folder.join("manifest.toml").exists() {
        return Manifest::read(folder).map(Some);
    }
    let _ = std::fs::remove_file(folder.join("manifest.new"));
    std::fs::remove_dir(folder).map_err(LabError::at(folder))?;
    Ok(None)
}

/// Ends the first process and thus all others, and waits for them.
fn end_processes(mark: &str) -> Result<(), LabError> {
    let own = processes::namespace(std::process::id());
    let mut namespaces: Vec<String> = vec![];
    wait_for("the lab's processes to end", 60, || {
        let marked = processes::marked(mark);
        let keepers = marked.iter().filter(|process| role(process) == Some("keep"));
        namespaces.extend(keepers.filter_map(|process| processes::namespace(process.number)));
        namespaces.retain(|namespace| Some(namespace) != own.as_ref());
        marked.iter().for_each(|process| processes::kill(process.number));
        let is_empty = |namespace: &String| processes::within(namespace).is_empty();
        (marked.is_empty() && namespaces.iter().all(is_empty)).then_some(())
    })
}

/// A device is detached with its last mount, soon after the last process of the mount namespace. One that was never
/// mounted is detached here.
fn detach_loops(prefix: &str) -> Result<(), LabError> {
    wait_for("the lab's loop devices to go", 60, || {
        let left = loops::over(prefix);
        for device in &left {
            // While it is busy, it is tried again.
            let _ = loops::detach(&device.name);
        }
        left.is_empty().then_some(())
    })
}
