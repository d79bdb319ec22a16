//! A recorder that stops at any byte loses at most what it had not flushed.

use std::path::Path;

use crate::samples::{all_rows, assert_exact, files, leave_tail, origin, tick, ticks, time};
use laggard_store::{Dataset, Recorder, Selection, recover};
use tempfile::tempdir;

const TAIL: &str = "oss1-20261115T120000Z.pressure.arrow";
const SEALED: &str = "oss1-20261115T120000Z.pressure.parquet";

/// The bytes of a tail after each of its ticks.
fn tail_of(ticks: u64) -> (Vec<u8>, Vec<usize>) {
    let folder = tempdir().unwrap();
    let mut recorder = Recorder::open(folder.path(), origin("oss1")).unwrap();
    let path = folder.path().join(TAIL);
    let mut ends = Vec::new();
    for number in 0..ticks {
        let at = time("2026-11-15T12:00:00Z") + laggard_core::model::time::Span::SECOND * number as i64;
        recorder.append(&tick("pressure", at, number)).unwrap();
        recorder.flush().unwrap();
        ends.push(std::fs::metadata(&path).unwrap().len() as usize);
    }
    (std::fs::read(&path).unwrap(), ends)
}

fn recovered(folder: &Path, tail: &[u8]) -> Vec<u64> {
    std::fs::write(folder.join(TAIL), tail).unwrap();
    for outcome in recover(folder, "oss1").unwrap() {
        outcome.unwrap();
    }
    let rows = all_rows(folder);
    assert_exact(&rows);
    for name in files(folder) {
        assert!(name == SEALED || name.ends_with(".damaged"), "{name} is left");
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    ticks(&rows)
}

#[test]
fn a_tail_cut_at_any_byte_gives_the_whole_messages_before() {
    let folder = tempdir().unwrap();
    let (bytes, ends) = tail_of(6);
    let last_messages = ends[3]..=bytes.len();
    let elsewhere = (0..ends[3]).step_by(37);
    for cut in last_messages.chain(elsewhere) {
        let whole = ends.iter().filter(|&&end| end <= cut).count() as u64;
        assert_eq!(recovered(folder.path(), &bytes[..cut]), (0..whole).collect::<Vec<_>>(), "cut at {cut}");
    }
}

#[test]
fn a_live_tail_is_read_up_to_its_last_whole_message() {
    let folder = tempdir().unwrap();
    let (bytes, ends) = tail_of(3);
    for cut in [ends[1], ends[1] + 1, ends[1] + 100, ends[2] - 1] {
        std::fs::write(folder.path().join(TAIL), &bytes[..cut]).unwrap();
        assert_eq!(ticks(&all_rows(folder.path())), [0, 1]);
    }
}

#[test]
fn zeros_behind_a_tail_are_a_cut_and_not_damage() {
    let folder = tempdir().unwrap();
    let (mut bytes, _) = tail_of(3);
    bytes.resize(bytes.len() + 5000, 0);
    std::fs::write(folder.path().join(TAIL), &bytes).unwrap();
    let sealed = recover(folder.path(), "oss1").unwrap().pop().unwrap().unwrap();
    assert_eq!((sealed.rows, sealed.lost_bytes, sealed.damage), (9, 5000, None));
    assert_eq!(files(folder.path()), [SEALED]);
}

#[test]
fn a_damaged_message_costs_only_itself_and_the_tail_is_kept_aside() {
    let folder = tempdir().unwrap();
    let (mut bytes, ends) = tail_of(5);
    // The last bytes of a message belong to a compressed column.
    bytes[ends[2] - 40..ends[2] - 8].fill(0xaa);
    std::fs::write(folder.path().join(TAIL), &bytes).unwrap();
    let sealed = recover(folder.path(), "oss1").unwrap().pop().unwrap().unwrap();
    assert_eq!(sealed.rows, 12);
    assert!(sealed.damage.is_some());
    assert_eq!(ticks(&all_rows(folder.path())), [0, 1, 3, 4]);
    assert_eq!(files(folder.path()), [format!("{TAIL}.damaged").as_str(), SEALED]);
}

#[test]
fn no_flipped_bit_makes_recovery_fail() {
    let folder = tempdir().unwrap();
    let (bytes, _) = tail_of(3);
    for position in (0..bytes.len()).step_by(11) {
        let mut flipped = bytes.clone();
        flipped[position] ^= 1 << (position % 8);
        std::fs::write(folder.path().join(TAIL), &flipped).unwrap();
        let problems = Dataset::in_folder(folder.path())
            .scan(&Selection::default(), &mut |_, _| std::ops::ControlFlow::Continue(()));
        drop(problems.unwrap());
        for outcome in recover(folder.path(), "oss1").unwrap() {
            // The metadata may be what was flipped; then it is an error, in words.
            drop(outcome.map_err(|error| error.to_string()));
        }
        files(folder.path()).iter().for_each(|name| std::fs::remove_file(folder.path().join(name)).unwrap());
    }
}

#[test]
fn a_tail_next_to_its_sealed_file_is_garbage() {
    let folder = tempdir().unwrap();
    leave_tail(folder.path(), "pressure", time("2026-11-15T12:00:00Z"), 3);
    let tail = std::fs::read(folder.path().join(TAIL)).unwrap();
    drop(recover(folder.path(), "oss1").unwrap());
    let sealed = std::fs::read(folder.path().join(SEALED)).unwrap();
    std::fs::write(folder.path().join(TAIL), tail).unwrap();
    assert_eq!(ticks(&all_rows(folder.path())), [0, 1, 2]);
    assert!(recover(folder.path(), "oss1").unwrap().is_empty());
    assert_eq!(files(folder.path()), [SEALED]);
    assert_eq!(std::fs::read(folder.path().join(SEALED)).unwrap(), sealed);
}

#[test]
fn half_written_parquet_files_are_removed_and_those_of_other_hosts_are_not() {
    let folder = tempdir().unwrap();
    let other = "oss2-20261115T120000Z.disk.parquet.tmp";
    for name in [&format!("{SEALED}.tmp"), other] {
        std::fs::write(folder.path().join(name), "half").unwrap();
    }
    assert!(recover(folder.path(), "oss1").unwrap().is_empty());
    assert_eq!(files(folder.path()), [other]);
}

#[test]
fn a_running_recorder_is_not_disturbed() {
    let folder = tempdir().unwrap();
    let mut recorder = Recorder::open(folder.path(), origin("oss1")).unwrap();
    recorder.append(&tick("pressure", time("2026-11-15T12:00:00Z"), 0)).unwrap();
    recorder.flush().unwrap();
    assert!(recover(folder.path(), "oss1").unwrap().is_empty());
    let second = Recorder::open(folder.path(), origin("oss1"));
    assert!(second.err().unwrap().to_string().contains("another recorder of oss1"));
    assert!(Recorder::open(folder.path(), origin("oss2")).is_ok());
    recorder.append(&tick("pressure", time("2026-11-15T12:00:01Z"), 1)).unwrap();
    assert!(recorder.close().iter().all(Result::is_ok));
    assert_eq!(ticks(&all_rows(folder.path())), [0, 1]);
}

#[test]
fn a_second_recorder_is_refused_before_the_first_has_written_anything() {
    let folder = tempdir().unwrap();
    let first = Recorder::open(folder.path(), origin("oss1")).unwrap();
    assert!(Recorder::open(folder.path(), origin("oss1")).is_err());
    first.close();
    assert!(Recorder::open(folder.path(), origin("oss1")).is_ok());
}

#[test]
fn a_recorder_picks_up_what_another_one_left() {
    let folder = tempdir().unwrap();
    leave_tail(folder.path(), "pressure", time("2026-11-15T12:00:00Z"), 3);
    let recorder = Recorder::open(folder.path(), origin("oss1")).unwrap();
    let sealed = recorder.close().pop().unwrap().unwrap();
    assert_eq!(sealed.path, Some(folder.path().join(SEALED)));
    assert_eq!(ticks(&all_rows(folder.path())), [0, 1, 2]);
}

#[test]
fn a_recorder_started_twice_within_a_second_keeps_both_recordings() {
    let folder = tempdir().unwrap();
    for number in 0..3 {
        let mut recorder = Recorder::open(folder.path(), origin("oss1")).unwrap();
        recorder.append(&tick("pressure", time("2026-11-15T12:00:00Z"), number)).unwrap();
        assert!(recorder.close().iter().all(Result::is_ok));
    }
    assert_eq!(ticks(&all_rows(folder.path())), [0, 1, 2]);
    assert_eq!(files(folder.path()).len(), 3);
}
