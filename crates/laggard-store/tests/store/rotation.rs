//! New files begin at 00:00:05 UTC, whatever the clock does.

use crate::samples::{all_rows, files, origin, tick, ticks, time};
use laggard_store::{Recorder, State};
use tempfile::tempdir;

/// The sealed files after ticks at these times.
fn recorded(times: &[&str]) -> Vec<String> {
    let folder = tempdir().unwrap();
    let mut recorder = Recorder::open(folder.path(), origin("fs1")).unwrap();
    for (number, at) in times.iter().enumerate() {
        recorder.append(&tick("disk", time(at), number as u64)).unwrap();
    }
    assert!(recorder.close().iter().all(Result::is_ok));
    assert_eq!(ticks(&all_rows(folder.path())), (0..times.len() as u64).collect::<Vec<_>>());
    files(folder.path())
}

#[test]
fn a_new_file_begins_five_seconds_after_midnight() {
    let names = recorded(&[
        "2011-05-08T23:59:59Z",
        "2011-05-09T00:00:04.999Z",
        "2011-05-09T00:00:05Z",
        "2011-05-09T23:59:59Z",
        "2011-05-10T00:00:06Z",
    ]);
    assert_eq!(
        names,
        [
            "fs1-20110508T235959Z.disk.parquet",
            "fs1-20110509T000005Z.disk.parquet",
            "fs1-20110510T000006Z.disk.parquet"
        ]
    );
}

#[test]
fn a_clock_set_back_after_the_turn_makes_no_second_file() {
    let names = recorded(&[
        "2011-05-08T12:00:00Z",
        "2011-05-09T00:00:05Z",
        "2011-05-09T00:00:00.5Z",
        "2011-05-09T00:00:04Z",
        "2011-05-09T00:00:05Z",
        "2011-05-09T00:00:06Z",
    ]);
    assert_eq!(names, ["fs1-20110508T120000Z.disk.parquet", "fs1-20110509T000005Z.disk.parquet"]);
}

#[test]
fn a_clock_set_back_between_the_turn_and_the_first_sample_makes_no_second_file() {
    let names = recorded(&["2011-05-09T00:00:00.2Z", "2011-05-09T00:00:05Z", "2011-05-09T12:00:00Z"]);
    assert_eq!(names, ["fs1-20110509T000000Z.disk.parquet"]);
}

#[test]
fn after_a_large_step_back_the_same_file_is_continued() {
    let names = recorded(&["2011-05-09T12:00:00Z", "2011-05-08T12:00:00Z", "2011-05-09T12:00:01Z"]);
    assert_eq!(names, ["fs1-20110509T120000Z.disk.parquet"]);
}

#[test]
fn a_start_in_the_middle_of_the_day_makes_a_shorter_file() {
    let names = recorded(&["2011-05-09T17:30:00Z", "2011-05-10T00:00:05Z"]);
    assert_eq!(names, ["fs1-20110509T173000Z.disk.parquet", "fs1-20110510T000005Z.disk.parquet"]);
}

#[test]
fn a_table_without_new_rows_is_sealed_at_the_turn_too() {
    let folder = tempdir().unwrap();
    let mut recorder = Recorder::open(folder.path(), origin("fs1")).unwrap();
    recorder.append(&tick("net", time("2011-05-08T12:00:00Z"), 0)).unwrap();
    recorder.append(&tick("disk", time("2011-05-08T12:00:00Z"), 0)).unwrap();
    recorder.append(&tick("disk", time("2011-05-09T00:00:05Z"), 1)).unwrap();
    let live: Vec<_> = laggard_store::Dataset::in_folder(folder.path()).segments().unwrap().segments;
    let live =
        live.into_iter().filter(|segment| segment.state == State::Live && segment.start > time("2011-05-09"));
    assert!(live.map(|segment| segment.table.name).eq(["disk"]));
    assert!(recorder.close().iter().all(Result::is_ok));
    assert_eq!(files(folder.path()).len(), 3);
}
