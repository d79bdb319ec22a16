//! One group, one day, one thread: the method compared with all pairs.

use laggard_core::methods::papers::production::Production;
use laggard_core::tables::Table;

use crate::day::{self, MEMBERS};
use crate::rivals::{Outcome, Question};
use crate::{naive, rivals};

/// Two bins for each of the 60 samples of a window.
const THRESHOLD: u32 = 120;

/// The fastest of a few runs counts: the machine may be shared.
const TRIES: usize = 5;

fn detect(table: &Table) -> usize {
    let members = table.components.len();
    let mut detector =
        Production::default().comparison.detector(members, Some(vec![f64::from(THRESHOLD); members]));
    let windows = detector.evaluate(table).windows;
    windows.iter().flat_map(|window| &window.scores).filter(|score| score.is_anomalous).count()
}

/// CPU time, so that other load on the machine counts less. The other programs measure it, too.
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Seconds of the fastest run, and its result.
pub(crate) fn fastest<T>(tries: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let begin = now();
        let result = work();
        (now() - begin, result)
    };
    let first = timed();
    (1..tries).map(|_| timed()).fold(first, |best, next| if next.0 < best.0 { next } else { best })
}

fn print(name: &str, outcome: Outcome, own: f64) {
    match outcome {
        Some((seconds, flags)) => {
            println!("{name:<22}{seconds:>9.4} s {flags:>6} anomalies {:>7.1} times", seconds / own);
        }
        None => println!("{name:<22}  not installed"),
    }
}

/// Prints the seconds of the method alone.
pub(crate) fn alone() {
    let table = day::of_the_race();
    let (own, flags) = fastest(10 * TRIES, || detect(&table));
    print("laggard", Some((own, flags)), own);
}

/// Prints seconds, number of anomalies, and the ratio to the method.
pub(crate) fn run() {
    let table = day::of_the_race();
    println!("one group of {MEMBERS} x {} samples, threshold {THRESHOLD}, one thread", table.grid.len);
    let (own, flags) = fastest(TRIES, || detect(&table));
    print("laggard", Some((own, flags)), own);
    let path = std::env::temp_dir().join(format!("laggard-detection-{}.f32", std::process::id()));
    if day::write(&table, &path).is_ok() {
        let question = Question { members: MEMBERS, threshold: THRESHOLD, tries: TRIES };
        print("numpy + scipy", rivals::numpy(&path, question, true), own);
        print("the same, tuned", rivals::numpy(&path, question, false), own);
        print("R", rivals::r(&path, question), own);
    }
    // A file that cannot be removed does no harm.
    let _ = std::fs::remove_file(&path);
    let (seconds, flags) = fastest(TRIES, || naive::flags(&table, THRESHOLD));
    print("all pairs in Rust", Some((seconds, flags)), own);
}
