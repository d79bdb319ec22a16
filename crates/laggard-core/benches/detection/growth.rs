//! The growth of the time with the number of components.

use laggard_core::methods::papers::comparison::ComparisonDetector;
use laggard_core::methods::papers::production::Production;
use laggard_core::tables::Table;

use crate::day;
use crate::race::fastest;

/// Five windows: 14 samples before the first mean, 60 of a window, 30 for each further one.
const SAMPLES: usize = 14 + 60 + 4 * 30;

/// Components that are evaluated in one pass, as several groups: enough that no group is still in the cache when it is
/// evaluated again, as for a new recording.
const TOGETHER: usize = 100_000;

const TRIES: usize = 10;

fn detector(members: usize, threshold: Option<f64>) -> ComparisonDetector {
    Production::default().comparison.detector(members, threshold.map(|threshold| vec![threshold; members]))
}

/// A detector starts again with a table that does not follow the previous one, so it can repeat the same work.
fn detect(detector: &mut ComparisonDetector, table: &Table) -> usize {
    let windows = detector.evaluate(table).windows;
    windows.iter().flat_map(|window| &window.scores).filter(|score| score.is_anomalous).count()
}

/// Seconds for one of the groups, and the anomalies in it.
fn time(members: usize, threshold: Option<f64>, tries: usize) -> (f64, usize) {
    let groups = vec![day::table(members, SAMPLES); TOGETHER.div_ceil(members)];
    let mut detector = detector(members, threshold);
    let detect_all = || groups.iter().map(|table| detect(&mut detector, table)).sum::<usize>();
    let (seconds, flags) = fastest(tries, detect_all);
    (seconds / groups.len() as f64, flags / groups.len())
}

/// Evaluates groups of DETECTION_MEMBERS, DETECTION_TIMES times, at the threshold DETECTION_THRESHOLD, or untrained.
pub(crate) fn alone() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<f64>().ok());
    let members = number("DETECTION_MEMBERS").unwrap_or(day::MEMBERS as f64) as usize;
    let tries = number("DETECTION_TIMES").unwrap_or(1.0) as usize;
    let (seconds, flags) = time(members.max(1), number("DETECTION_THRESHOLD"), tries.max(1));
    println!("{members} components {seconds:.5} s {flags} anomalies");
}

/// Prints seconds for each number of components, and the ratio to half as many.
pub(crate) fn run() {
    println!("growth over the number of components, five windows, one thread");
    for (name, threshold) in
        [("untrained", None), ("threshold 240", Some(240.0)), ("threshold 120", Some(120.0))]
    {
        let mut before = None;
        for members in [3125, 6250, 12_500, 25_000, 50_000, 100_000] {
            let (seconds, flags) = time(members, threshold, TRIES);
            let times = before.map_or(String::new(), |before: f64| format!("{:.2} times", seconds / before));
            println!("  {name:<14}{members:>7} components {seconds:>9.4} s {flags:>6} anomalies {times}");
            before = Some(seconds);
        }
    }
}
