//! One group, one day, one thread: the method against all pairs.

use laggard_core::methods::papers::production::Production;
use laggard_core::tables::Table;

use crate::day::{self, MEMBERS};
use crate::rivals::{Outcome, Question};
use crate::{naive, rivals};

/// Two bins for each of the 60 samples of a window.
const THRESHOLD: u32 = 120;

/// The fastest of a few, of everyone: the machine is not ours alone.
const TRIES: usize = 5;

fn detect(table: &Table) -> usize {
    let members = table.components.len();
    let mut watch =
        Production::default().comparison.watch(members, Some(vec![f64::from(THRESHOLD); members]));
    let judged = watch.evaluate(table).windows;
    judged.iter().flat_map(|window| &window.scores).filter(|verdict| verdict.is_anomalous).count()
}

/// The processor's time, so that what else the machine does counts less. The rivals use theirs.
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Seconds of the fastest try, and what it gave.
pub fn fastest<T>(tries: usize, mut work: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let begin = now();
        let result = work();
        (now() - begin, result)
    };
    let first = timed();
    (1..tries).map(|_| timed()).fold(first, |best, next| if next.0 < best.0 { next } else { best })
}

fn tell(name: &str, outcome: Outcome, own: f64) {
    match outcome {
        Some((seconds, flags)) => {
            println!("{name:<22}{seconds:>9.4} s {flags:>6} anomalies {:>7.1} times", seconds / own);
        }
        None => println!("{name:<22}  not installed"),
    }
}

/// Prints the seconds of the method without any rival.
pub fn alone() {
    let table = day::of_the_race();
    let (own, flags) = fastest(10 * TRIES, || detect(&table));
    tell("laggard", Some((own, flags)), own);
}

/// Prints seconds, number of anomalies, and how many times longer each takes.
pub fn run() {
    let table = day::of_the_race();
    println!("one group of {MEMBERS} x {} samples, threshold {THRESHOLD}, one thread", table.grid.len);
    let (own, flags) = fastest(TRIES, || detect(&table));
    tell("laggard", Some((own, flags)), own);
    let path = std::env::temp_dir().join(format!("laggard-detection-{}.f32", std::process::id()));
    if day::write(&table, &path).is_ok() {
        let question = Question { members: MEMBERS, threshold: THRESHOLD, tries: TRIES };
        tell("numpy + scipy", rivals::numpy(&path, question, true), own);
        tell("the same, tuned", rivals::numpy(&path, question, false), own);
        tell("R", rivals::r(&path, question), own);
    }
    // Nothing to do about a file that cannot be removed.
    let _ = std::fs::remove_file(&path);
    let (seconds, flags) = fastest(TRIES, || naive::flags(&table, THRESHOLD));
    tell("all pairs in Rust", Some((seconds, flags)), own);
}
