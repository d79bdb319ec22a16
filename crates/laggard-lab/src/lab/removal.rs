//! Taking a lab down.

use std::path::Path;

use super::role;
use crate::machine::cgroup::MemoryCgroup;
use crate::machine::place::wait_for;
use crate::machine::{LabError, loops, processes};
use crate::manifest::{self, Lock, Manifest};

/// Takes a lab down, whole or half-built, whatever has become of its processes. What does not carry its mark is left
/// alone.
pub fn down(name: &str) -> Result<(), LabError> {
    let folder = manifest::folder(name);
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
    // Others may have labs there.
    let _ = std::fs::remove_dir(manifest::FOLDER);
    Ok(())
}

/// The manifest; none if the lab was cut short before it had one, and then its folder goes, if nothing is in it.
fn manifest_of(folder: &Path) -> Result<Option<Manifest>, LabError> {
    if folder.join("manifest.toml").exists() {
        return Manifest::read(folder).map(Some);
    }
    let _ = std::fs::remove_file(folder.join("manifest.new"));
    std::fs::remove_dir(folder).map_err(LabError::at(folder))?;
    Ok(None)
}

/// Ends the first process, and with it all others; then waits until they are gone.
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

/// A device goes with its last mount, and that goes a moment after the last process that saw it. One that was not
/// mounted yet is detached here.
fn detach_loops(prefix: &str) -> Result<(), LabError> {
    wait_for("the lab's loop devices to go", 60, || {
        let left = loops::over(prefix);
        for device in &left {
            // Still busy: it is asked again, until it is gone.
            let _ = loops::detach(&device.name);
        }
        left.is_empty().then_some(())
    })
}
