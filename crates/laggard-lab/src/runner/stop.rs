//! Conditions that end a case early: its time limit, and the commands of `safety.stop_if`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::case_plan::{Steps, StopIf};
use super::target;
use crate::inject::{Exec, Node};

/// Why a case ends early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Its time limit; the other cases are run.
    Time(Duration),
    /// A command of `stop_if` failed; no other case is run.
    Condition(String),
}

#[derive(Debug)]
pub(super) struct StopConditions<'a> {
    steps: &'a Steps,
    begin: Instant,
    failed: Mutex<Option<Stop>>,
    is_over: AtomicBool,
}

const GLANCE: Duration = Duration::from_millis(50);
const COMMAND_LIMIT: Duration = Duration::from_secs(30);

impl<'a> StopConditions<'a> {
    /// The time limit counts from now.
    pub(super) fn begin(steps: &'a Steps) -> StopConditions<'a> {
        StopConditions {
            steps,
            begin: Instant::now(),
            failed: Mutex::new(None),
            is_over: AtomicBool::new(false),
        }
    }

    pub(super) fn is_met(&self) -> bool {
        self.reason().is_some()
    }

    pub(super) fn reason(&self) -> Option<Stop> {
        let longest = self.steps.timeouts.case;
        self.failed().or((self.begin.elapsed() > longest).then_some(Stop::Time(longest)))
    }

    fn failed(&self) -> Option<Stop> {
        self.failed.lock().map_or(None, |failed| failed.clone())
    }

    /// Ends [`watch`](StopConditions::watch).
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Runs all commands once; returns the first that fails.
    pub(super) fn check(&self) -> Option<Stop> {
        self.steps.safety.stop_if.iter().find_map(failure).inspect(|why| self.note(why))
    }

    /// Runs each command at its own interval, until one fails or the case ends.
    pub(super) fn watch(&self) {
        let mut last = vec![Instant::now(); self.steps.safety.stop_if.len()];
        while !self.is_over.load(Ordering::Relaxed) && self.failed().is_none() {
            for (command, last) in self.steps.safety.stop_if.iter().zip(&mut last) {
                if last.elapsed() >= command.every {
                    *last = Instant::now();
                    let _ = failure(command).inspect(|why| self.note(why));
                }
            }
            std::thread::sleep(GLANCE);
        }
    }

    fn note(&self, why: &Stop) {
        if let Ok(mut failed) = self.failed.lock() {
            failed.get_or_insert(why.clone());
        }
    }
}

fn failure(command: &StopIf) -> Option<Stop> {
    let ran =
        target::with_laggard(&here(), &command.cmd).and_then(|script| here().run(&script, COMMAND_LIMIT));
    let why = match ran {
        Ok(ran) if ran.is_healthy() => return None,
        Ok(ran) => ran.complaint(),
        Err(error) => error.to_string(),
    };
    Some(Stop::Condition(format!("safety.stop_if: `{}`: {why}", command.cmd)))
}

/// This machine.
fn here() -> Node {
    Node {
        name: "this machine".into(),
        role: "controller".into(),
        exec: Exec::Local,
        brick: None,
        addresses: vec![],
        marker: None,
        ssh_config: None,
        keep: crate::inject::FOLDER.into(),
        stop: None,
        restart: None,
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stop::Time(longest) => {
                write!(to, "not finished in {} s (timeouts.case), given up", longest.as_secs())
            }
            Stop::Condition(why) => to.write_str(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::testing::steps;

    fn with(cmd: &str, every_ms: u64) -> Steps {
        let mut steps = steps();
        steps.safety.stop_if = vec![StopIf { cmd: cmd.into(), every: Duration::from_millis(every_ms) }];
        steps
    }

    #[test]
    fn a_command_that_fails_is_reported_with_its_output() {
        let steps = with("echo 1 GB is left; exit 1", 200);
        let stop = StopConditions::begin(&steps);
        let expected = "safety.stop_if: `echo 1 GB is left; exit 1`: 1 GB is left";
        assert_eq!(stop.check(), Some(Stop::Condition(expected.into())));
        assert_eq!(stop.reason().unwrap().to_string(), expected);
    }

    #[test]
    fn a_command_runs_repeatedly_and_ends_nothing_while_it_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("enough");
        let steps = with(&format!("[ ! -e {} ]", file.display()), 200);
        let stop = StopConditions::begin(&steps);
        assert_eq!(stop.check(), None);
        std::thread::scope(|scope| {
            scope.spawn(|| stop.watch());
            assert!(!stop.is_met());
            std::fs::write(&file, "").unwrap();
            let begin = Instant::now();
            while !stop.is_met() && begin.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(GLANCE);
            }
            stop.end();
        });
        assert!(matches!(stop.reason(), Some(Stop::Condition(_))));
    }

    #[test]
    fn a_case_has_a_time_limit() {
        let mut steps = steps();
        steps.timeouts.case = Duration::ZERO;
        assert_eq!(StopConditions::begin(&steps).reason(), Some(Stop::Time(Duration::ZERO)));
    }
}
