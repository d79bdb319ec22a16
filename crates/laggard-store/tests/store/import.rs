//! Imports make sealed files, the same ones when repeated, and never touch another source's.

use crate::samples::{all_rows, files, leave_tail, origin, tick, ticks, time};
use laggard_core::model::time::Span;
use laggard_store::{Importer, Origin, StoreError, recover};
use tempfile::tempdir;

fn from(source: &str) -> Origin {
    Origin { source: source.into(), ..origin("oss1") }
}

fn import(
    folder: &std::path::Path,
    source: &str,
    times: &[&str],
) -> Result<Vec<laggard_store::Imported>, StoreError> {
    let mut importer = Importer::open(folder.to_str().unwrap())?;
    for (number, at) in times.iter().enumerate() {
        importer.add(&from(source), &tick("disk", time(at), number as u64))?;
    }
    importer.finish()
}

#[test]
fn rows_are_split_where_a_recorder_would_have_split_them() {
    let folder = tempdir().unwrap();
    let times =
        ["2026-11-14T23:59:00Z", "2026-11-15T00:00:04Z", "2026-11-15T00:00:05Z", "2026-11-15T00:00:03Z"];
    import(folder.path(), "sa14", &times).unwrap();
    assert_eq!(
        files(folder.path()),
        ["oss1-20261114T235900Z.disk.parquet", "oss1-20261115T000003Z.disk.parquet"]
    );
    assert_eq!(ticks(&all_rows(folder.path())), [0, 1, 2, 3]);
}

#[test]
fn one_piece_of_rows_may_span_days() {
    let folder = tempdir().unwrap();
    let mut rows = tick("disk", time("2026-11-14T12:00:00Z"), 0);
    for day in 1..4 {
        rows.append(&tick("disk", time("2026-11-14T12:00:00Z") + Span::DAY * day, day as u64));
    }
    let mut importer = Importer::open(folder.path().to_str().unwrap()).unwrap();
    importer.add(&from("sa"), &rows).unwrap();
    assert_eq!(importer.finish().unwrap().len(), 4);
    assert_eq!(ticks(&all_rows(folder.path())), [0, 1, 2, 3]);
}

#[test]
fn files_may_come_in_any_order_of_days() {
    let folder = tempdir().unwrap();
    let times = ["2026-11-15T12:00:00Z", "2026-11-14T12:00:00Z", "2026-11-15T12:00:01Z"];
    import(folder.path(), "sa", &times).unwrap();
    assert_eq!(
        files(folder.path()),
        ["oss1-20261114T120000Z.disk.parquet", "oss1-20261115T120000Z.disk.parquet"]
    );
}

#[test]
fn a_repeated_import_replaces_its_own_files() {
    let folder = tempdir().unwrap();
    assert!(!import(folder.path(), "sa15", &["2026-11-15T12:00:00Z"]).unwrap()[0].replaced);
    let again = import(folder.path(), "sa15", &["2026-11-15T12:00:00Z", "2026-11-15T12:00:01Z"]).unwrap();
    assert!(again[0].replaced);
    assert_eq!(ticks(&all_rows(folder.path())), [0, 1]);
}

#[test]
fn another_sources_file_is_never_replaced() {
    let folder = tempdir().unwrap();
    import(folder.path(), "sa15", &["2026-11-15T12:00:00Z"]).unwrap();
    let before = std::fs::read(folder.path().join("oss1-20261115T120000Z.disk.parquet")).unwrap();
    let error = import(folder.path(), "pcp", &["2026-11-14T12:00:00Z", "2026-11-15T12:00:00Z"]).unwrap_err();
    assert!(error.to_string().contains("already holds what sa15 recorded"), "{error}");
    assert_eq!(files(folder.path()), ["oss1-20261115T120000Z.disk.parquet"]);
    assert_eq!(std::fs::read(folder.path().join("oss1-20261115T120000Z.disk.parquet")).unwrap(), before);
}

#[test]
fn a_tail_of_the_same_name_is_never_shadowed() {
    let folder = tempdir().unwrap();
    leave_tail(folder.path(), "disk", time("2026-11-15T12:00:00Z"), 3);
    assert!(matches!(import(folder.path(), "sa", &["2026-11-15T12:00:00Z"]), Err(StoreError::Taken { .. })));
    drop(recover(folder.path(), "oss1").unwrap());
    assert_eq!(ticks(&all_rows(folder.path())), [0, 1, 2]);
}

#[test]
fn an_unfinished_import_leaves_nothing() {
    let folder = tempdir().unwrap();
    let mut importer = Importer::open(folder.path().to_str().unwrap()).unwrap();
    let mut day = tick("disk", time("2026-11-15T12:00:00Z"), 0);
    (0..14).for_each(|_| day.append(&day.clone()));
    importer.add(&from("sa"), &day).unwrap();
    assert!(all_rows(folder.path()).is_empty());
    drop(importer);
    assert!(files(folder.path()).is_empty());
}

#[test]
fn what_a_killed_import_left_is_swept_by_the_next() {
    let folder = tempdir().unwrap();
    let left = folder.path().join(".laggard-import-1-0");
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("1.arrow"), "half").unwrap();
    let running = Importer::open(folder.path().to_str().unwrap()).unwrap();
    let second = Importer::open(folder.path().to_str().unwrap()).unwrap();
    assert!(!left.exists());
    assert_eq!(files(folder.path()).len(), 2);
    drop((running, second));
    assert!(files(folder.path()).is_empty());
}

#[test]
fn many_hosts_and_tables_need_few_open_files() {
    let folder = tempdir().unwrap();
    let mut importer = Importer::open(folder.path().to_str().unwrap()).unwrap();
    for number in 0..2 {
        for host in 0..60 {
            let at = time("2026-11-15T12:00:00Z") + Span::SECOND * number;
            let origin = Origin { host: format!("node{host}"), ..from("prometheus") };
            for table in ["disk", "net", "tcp"] {
                importer.add(&origin, &tick(table, at, number as u64)).unwrap();
            }
        }
    }
    assert_eq!(importer.finish().unwrap().len(), 180);
    assert_eq!(ticks(&all_rows(folder.path())), [0, 1]);
}

#[test]
fn a_time_that_no_file_can_be_named_by_is_refused_in_words() {
    let folder = tempdir().unwrap();
    let mut importer = Importer::open(folder.path().to_str().unwrap()).unwrap();
    let mut rows = tick("disk", time("2026-11-15T12:00:00Z"), 0);
    rows.time[1] = i64::MAX;
    rows.time[2] = i64::MIN;
    assert!(importer.add(&from("sa"), &rows).unwrap_err().to_string().contains("expected"));
}
