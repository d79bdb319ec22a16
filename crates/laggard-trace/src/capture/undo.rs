//! Removes a recorder's kernel objects: at its end, by its guard if it was killed, or by the next recorder.

use std::path::Path;
use std::time::{Duration, Instant};

use super::CaptureError;
use super::manifest::{self, Manifest};
use super::tracefs::Tracefs;

/// The files of a killed recorder are closed one after another; until then its instances are busy.
const RETRY_FOR: Duration = Duration::from_secs(20);

/// Objects that are already gone are not an error.
pub(super) fn undo(tracefs: &Tracefs, manifest: &Manifest) -> Result<(), CaptureError> {
    for instance in &manifest.instances {
        remove_instance(tracefs, instance)?;
    }
    for probe in probes(tracefs, &manifest.probes) {
        retry_while_busy(|| tracefs.append("uprobe_events", &format!("-:{probe}")))?;
    }
    Ok(())
}

/// Undoes what dead recorders have left; returns their number. Ignores files that are not manifests.
pub(super) fn undo_orphans(tracefs: &Tracefs, folder: &Path) -> Result<usize, CaptureError> {
    let mut undone = 0;
    for (path, lock) in manifest::orphans(folder) {
        // A manifest without its final name belongs to a recorder that created nothing.
        let is_unborn = path.extension().is_some_and(|ending| ending == "new");
        if !is_unborn {
            let Ok(manifest) = Manifest::read(&path) else { continue };
            undo(tracefs, &manifest)?;
            undone += 1;
        }
        manifest::remove(&path)?;
        drop(lock);
    }
    Ok(undone)
}

fn remove_instance(tracefs: &Tracefs, name: &str) -> Result<(), CaptureError> {
    let folder = format!("instances/{name}");
    if !tracefs.has(&folder) {
        return Ok(());
    }
    // Stops tracing immediately, even if the instance stays busy.
    let _ = tracefs.write(&format!("{folder}/tracing_on"), "0");
    let path = tracefs.path(&folder);
    retry_while_busy(|| match std::fs::remove_dir(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        outcome => outcome.map_err(CaptureError::at(Path::new(&format!("tracefs/{folder}")))),
    })
}

/// The names of a group in lines such as `p:group/event /lib/libc.so.6:0x92d90 ...`.
fn probes(tracefs: &Tracefs, group: &str) -> Vec<String> {
    let list = tracefs.read("uprobe_events").unwrap_or_default();
    let names = list.lines().filter_map(|line| line.split_once(':')?.1.split_whitespace().next());
    let ours = names.filter(|name| name.split_once('/').is_some_and(|(of, _)| of == group));
    ours.map(str::to_owned).collect()
}

fn retry_while_busy(mut attempt: impl FnMut() -> Result<(), CaptureError>) -> Result<(), CaptureError> {
    let begin = Instant::now();
    loop {
        match attempt() {
            Err(CaptureError::File { error, .. })
                if error.kind() == std::io::ErrorKind::ResourceBusy && begin.elapsed() < RETRY_FOR =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::manifest::LockedManifest;

    /// A tree like tracefs; the live tests use a real one.
    fn tree(manifest: &Manifest) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let list =
            format!("p:{}/aio_read /lib/libc.so.6:0x1 cb=%di\np:other/x /bin/sh:0x2\n", manifest.probes);
        std::fs::write(root.path().join("uprobe_events"), list).unwrap();
        std::fs::create_dir_all(root.path().join("instances").join(&manifest.instances[0])).unwrap();
        std::fs::create_dir_all(root.path().join("instances/foreign")).unwrap();
        root
    }

    #[test]
    fn only_objects_with_the_mark_are_removed() {
        let manifest = Manifest::new();
        let root = tree(&manifest);
        let tracefs = Tracefs::at(root.path());
        undo(&tracefs, &manifest).unwrap();
        assert_eq!(tracefs.names("instances"), ["foreign"]);
        let list = tracefs.read("uprobe_events").unwrap();
        assert!(list.ends_with(&format!("-:{}/aio_read", manifest.probes)) && !list.contains("-:other"));
    }

    #[test]
    fn leftovers_of_dead_recorders_are_removed_and_those_of_running_ones_are_not() {
        let (living, dead) = (Manifest::new(), Manifest::new());
        let root = tree(&dead);
        std::fs::create_dir(root.path().join("instances").join(&living.instances[1])).unwrap();
        let (tracefs, folder) = (Tracefs::at(root.path()), root.path().join("run"));
        let held = LockedManifest::create(&folder, living.clone()).unwrap();
        drop(LockedManifest::create(&folder, dead).unwrap());
        std::fs::write(folder.join("strange.toml"), "x").unwrap();
        std::fs::write(folder.join("unborn.new"), "").unwrap();
        assert_eq!(undo_orphans(&tracefs, &folder).unwrap(), 1);
        assert_eq!(tracefs.names("instances"), ["foreign", &living.instances[1]]);
        assert!(held.path().exists() && folder.join("strange.toml").exists());
        assert!(!folder.join("unborn.new").exists());
    }
}
