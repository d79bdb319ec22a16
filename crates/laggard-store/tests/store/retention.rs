//! The oldest sealed files go first, and live tails never.

use std::path::Path;

use crate::samples::{files, origin, tick, time};
use laggard_core::model::time::Span;
use laggard_store::{Dataset, Recorder, Retention};
use tempfile::{TempDir, tempdir};

/// Three sealed days of two tables, and a live one.
fn four_days() -> (TempDir, Recorder) {
    let folder = tempdir().unwrap();
    let mut recorder = Recorder::open(folder.path(), origin("fs1")).unwrap();
    for day in 0..4 {
        for table in ["disk", "net"] {
            recorder
                .append(&tick(table, time("2026-11-10T00:00:05Z") + Span::DAY * day, day as u64))
                .unwrap();
        }
    }
    recorder.flush().unwrap();
    while files(folder.path()).iter().any(|name| name.contains("1112T") && name.ends_with("arrow")) {
        std::thread::yield_now();
    }
    (folder, recorder)
}

fn retained(folder: &Path, retention: Retention, now: &str) -> usize {
    Dataset::in_folder(folder).retain(retention, time(now)).unwrap().len()
}

#[test]
fn files_go_when_their_last_sample_is_too_old() {
    let (folder, _recorder) = four_days();
    let two_days = Retention { max_age: Some(Span::DAY * 2), max_bytes: None };
    assert_eq!(retained(folder.path(), two_days, "2026-11-13T00:00:04Z"), 0);
    assert_eq!(retained(folder.path(), two_days, "2026-11-13T00:00:05Z"), 2);
    assert_eq!(files(folder.path())[0], "fs1-20261111T000005Z.disk.parquet");
}

#[test]
fn the_oldest_files_go_until_the_rest_fits() {
    let (folder, _recorder) = four_days();
    let dataset = Dataset::in_folder(folder.path());
    let bytes: u64 = dataset.segments().unwrap().segments.iter().map(|segment| segment.bytes).sum();
    let a_little_less = Retention { max_age: None, max_bytes: Some(bytes - 1) };
    let removed = dataset.retain(a_little_less, time("2026-11-13T00:00:06Z")).unwrap();
    assert_eq!(removed.len(), 1);
    assert_eq!(removed[0].name().to_string(), "fs1-20261110T000005Z.disk.parquet");
}

#[test]
fn live_tails_and_foreign_files_stay_whatever_the_limits() {
    let (folder, _recorder) = four_days();
    std::fs::write(folder.path().join("labels.csv"), "").unwrap();
    let nothing = Retention { max_age: Some(Span::ZERO), max_bytes: Some(0) };
    assert_eq!(retained(folder.path(), nothing, "2030-01-01"), 6);
    let left = files(folder.path());
    assert_eq!(left, ["fs1-20261113T000005Z.disk.arrow", "fs1-20261113T000005Z.net.arrow", "labels.csv"]);
}

#[test]
fn no_limits_remove_nothing() {
    let (folder, _recorder) = four_days();
    assert_eq!(retained(folder.path(), Retention::default(), "2030-01-01"), 0);
}
