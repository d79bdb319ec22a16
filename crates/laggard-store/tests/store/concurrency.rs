//! Readers see every flushed tick exactly once, while the recorder appends, turns over and seals.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::samples::{all_rows, assert_exact, files, origin, tick, ticks, time};
use laggard_core::model::time::Span;
use laggard_store::{Recorder, State};
use tempfile::tempdir;

const TICKS: u64 = 600;

#[test]
fn a_reader_sees_all_that_was_flushed_and_nothing_twice() {
    let folder = tempdir().unwrap();
    let (flushed, done) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut recorder = Recorder::open(folder.path(), origin("oss1")).unwrap();
            for number in 0..TICKS {
                let at = time("2026-11-15T12:00:00Z") + Span::from_seconds(3600) * number as i64;
                recorder.append(&tick("pressure", at, number)).unwrap();
                recorder.flush().unwrap();
                flushed.store(number + 1, Ordering::SeqCst);
            }
            assert!(recorder.close().iter().all(Result::is_ok));
            done.store(true, Ordering::SeqCst);
        });
        let mut is_last = false;
        while !is_last {
            is_last = done.load(Ordering::SeqCst);
            let at_least = flushed.load(Ordering::SeqCst);
            let rows = all_rows(folder.path());
            assert_exact(&rows);
            let seen = ticks(&rows);
            assert!(seen.len() as u64 >= at_least, "{at_least} were flushed, {} are seen", seen.len());
            assert!(seen.iter().copied().eq(0..seen.len() as u64), "{seen:?}");
        }
    });
    let parts = files(folder.path());
    assert!(
        parts.len() as u64 >= TICKS / 24 && parts.iter().all(|name| name.ends_with("parquet")),
        "{parts:?}"
    );
}

#[test]
fn a_segment_that_was_listed_live_is_read_after_it_was_sealed() {
    let folder = tempdir().unwrap();
    let mut recorder = Recorder::open(folder.path(), origin("oss1")).unwrap();
    recorder.append(&tick("disk", time("2026-11-15T12:00:00Z"), 0)).unwrap();
    recorder.flush().unwrap();
    let listing = laggard_store::Dataset::in_folder(folder.path()).segments().unwrap();
    assert_eq!(listing.segments[0].state, State::Live);
    assert!(recorder.close().iter().all(Result::is_ok));
    assert_eq!(listing.segments[0].summary().unwrap().rows, 3);
}
