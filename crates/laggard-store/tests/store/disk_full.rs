//! A full disk stops the recorder cleanly: what was flushed stays, and is sealed once there is room again.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::samples::{all_rows, assert_exact, files, origin, tick, ticks, time};
use laggard_core::model::time::Span;
use laggard_store::{Recorder, StoreError, recover};
use tempfile::{TempDir, tempdir};

/// A file system of half a MiB, gone when this is.
struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=512k", "tmpfs"])
            .arg(folder.path())
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then_some(SmallDisk { folder })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Takes up some of the room.
    fn ballast(&self, bytes: usize) -> PathBuf {
        let path = self.path().join("ballast");
        std::fs::write(&path, vec![1; bytes]).unwrap();
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.folder.path()).status();
    }
}

#[test]
fn a_full_disk_stops_the_recorder_cleanly_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount() else {
        println!("skipped: mounting a small disk needs root");
        return;
    };
    let ballast = disk.ballast(300 << 10);
    let mut recorder = Recorder::open(disk.path(), origin("oss1")).unwrap();
    recorder.append(&tick("disk", time("2026-11-13T12:00:00Z"), 0)).unwrap();
    let start = time("2026-11-15T12:00:00Z");
    let mut flushed = 1;
    let error = loop {
        recorder.append(&tick("disk", start + Span::SECOND * flushed as i64, flushed)).unwrap();
        match recorder.flush() {
            Ok(()) => flushed += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert!(flushed > 20);
    let outcomes = recorder.close();
    assert!(outcomes.iter().any(|outcome| matches!(outcome, Err(StoreError::Full { .. }))), "{outcomes:?}");
    let rows = all_rows(disk.path());
    assert_exact(&rows);
    assert_eq!(ticks(&rows), (0..flushed).collect::<Vec<_>>());
    assert!(!files(disk.path()).iter().any(|name| name.ends_with(".tmp")));

    std::fs::remove_file(ballast).unwrap();
    recover(disk.path(), "oss1").unwrap().into_iter().for_each(|outcome| drop(outcome.unwrap()));
    assert!(files(disk.path()).iter().all(|name| name.ends_with(".parquet")));
    assert_eq!(all_rows(disk.path()), rows);
}
