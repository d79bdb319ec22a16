//! `kill -9` at any moment loses nothing that was flushed, and changes no sealed file.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::samples::{assert_exact, files, origin, selected_rows, tick, ticks, time};
use laggard_core::model::time::{Span, Timestamp};
use laggard_store::{Dataset, Recorder, Selection, recover};
use tempfile::{TempDir, tempdir, tempdir_in};

const FOLDER: &str = "LAGGARD_TEST_FOLDER";
const FIRST: &str = "LAGGARD_TEST_FIRST_TICK";
const KILLS: u64 = 200;
/// On a busy machine fewer kills are done rather than waited for.
const PATIENCE: Duration = Duration::from_secs(15);

/// Ticks are an hour apart, so that files are turned over and sealed all the time.
fn time_of(tick: u64) -> Timestamp {
    time("2026-01-01T00:00:00Z") + Span::from_seconds(3600) * tick as i64
}

/// The process that is killed. Without its environment this is no test, and passes.
#[test]
fn child_records_until_it_is_killed() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let first: u64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let mut recorder = Recorder::open(Path::new(&folder), origin("oss1")).unwrap();
    let mut output = std::io::stdout();
    for number in first.. {
        recorder.append(&tick("disk", time_of(number), number)).unwrap();
        recorder.flush().unwrap();
        writeln!(output, "flushed {number}").unwrap();
        output.flush().unwrap();
    }
}

fn start_child(folder: &Path, first: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["kill::child_records_until_it_is_killed", "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Lets a child record until it has flushed `ticks` and a moment longer; returns the last tick that it reported as flushed.
fn record_and_kill(folder: &Path, first: u64, ticks: u64, moment: Duration) -> u64 {
    let mut child = start_child(folder, first);
    let output = BufReader::new(child.stdout.take().unwrap());
    let mut lines = output.lines().map(|line| line.unwrap_or_default());
    let number = |line: String| line.split("flushed ").nth(1)?.trim().parse::<u64>().ok();
    let mut last = lines.by_ref().filter_map(number).find(|&n| n + 1 >= first + ticks).unwrap();
    std::thread::sleep(moment);
    child.kill().unwrap();
    // What it had written to the pipe before it died counts, except a line that was cut.
    last = lines.filter_map(number).last().map_or(last, |n| n.max(last));
    child.wait().unwrap();
    last
}

/// Properties that change if a sealed file is written to or replaced.
fn sealed_files(folder: &Path) -> BTreeMap<String, (u64, u64, SystemTime)> {
    let names = files(folder).into_iter().filter(|name| name.ends_with(".parquet"));
    let look = |name: &String| {
        let metadata = std::fs::metadata(folder.join(name)).unwrap();
        (metadata.ino(), metadata.len(), metadata.modified().unwrap())
    };
    names.map(|name| (name.clone(), look(&name))).collect()
}

/// A folder in memory where there is one: a kill, unlike a power cut, does not depend on the disk.
fn folder() -> TempDir {
    tempdir_in("/dev/shm").or_else(|_| tempdir()).unwrap()
}

#[test]
fn killing_the_recorder_at_any_moment_loses_nothing_flushed() {
    let folder = folder();
    let began = Instant::now();
    let mut first = 0;
    for kill in 0..KILLS {
        if began.elapsed() > PATIENCE {
            println!("the machine is slow: {kill} instead of {KILLS} kills");
            break;
        }
        let before = sealed_files(folder.path());
        // Spread over a few milliseconds by a multiplicative sequence: no two kills hit the same place.
        let moment = Duration::from_micros(kill * 7919 % 5000);
        let last = record_and_kill(folder.path(), first, 1 + kill % 30, moment);
        // Every other time the next recorder has to pick up, and may be killed while it does.
        if kill % 2 == 0 {
            recover(folder.path(), "oss1").unwrap().into_iter().for_each(|outcome| drop(outcome.unwrap()));
            assert!(files(folder.path()).iter().all(|name| name.ends_with(".parquet")));
        }
        let after = sealed_files(folder.path());
        assert!(
            before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)),
            "a sealed file has changed"
        );
        let selection = Selection { from: Some(time_of(first)), ..Selection::default() };
        let rows = selected_rows(&Dataset::in_folder(folder.path()), &selection);
        assert_exact(&rows);
        let kept = ticks(&rows);
        assert!(kept.iter().copied().eq(first..first + kept.len() as u64), "from {first} on: {kept:?}");
        assert!(first + kept.len() as u64 > last, "{last} was flushed, {kept:?} is there");
        first += kept.len() as u64;
    }
}
