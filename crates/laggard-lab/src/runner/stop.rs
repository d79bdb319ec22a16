//! Looks, while a cell is played, whether it must end early: by its time, or by a command of `safety.stop_if`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::target;
use crate::campaign::config::{Config, StopIf};
use crate::inject::{Exec, Node};

/// Why a cell ends early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Its own time is over; the others are played.
    Time(Duration),
    /// A command of `stop_if` failed; nothing more is played.
    Condition(String),
}

/// A watch over one cell.
#[derive(Debug)]
pub struct Watch<'a> {
    config: &'a Config,
    begin: Instant,
    stop: Mutex<Option<Stop>>,
    is_over: AtomicBool,
}

const GLANCE: Duration = Duration::from_millis(50);
/// A command that only looks must not take longer.
const LONGEST_LOOK: Duration = Duration::from_secs(30);

impl<'a> Watch<'a> {
    /// From now on.
    pub fn begin(config: &'a Config) -> Watch<'a> {
        Watch { config, begin: Instant::now(), stop: Mutex::new(None), is_over: AtomicBool::new(false) }
    }

    /// Whether the cell must end.
    pub fn is_stopped(&self) -> bool {
        self.begin.elapsed() > self.config.timeouts.cell || self.reason().is_some()
    }

    /// Why the cell must end.
    pub fn why(&self) -> Option<Stop> {
        let longest = self.config.timeouts.cell;
        self.reason().or((self.begin.elapsed() > longest).then_some(Stop::Time(longest)))
    }

    fn reason(&self) -> Option<Stop> {
        self.stop.lock().map_or(None, |stop| stop.clone())
    }

    /// The watch is over.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Runs all commands once; the first that fails.
    pub fn look(&self) -> Option<Stop> {
        self.config.safety.stop_if.iter().find_map(failure).inspect(|why| self.note(why))
    }

    /// Runs each command as often as it wants, until the watch is over.
    pub fn keep(&self) {
        let mut last = vec![Instant::now(); self.config.safety.stop_if.len()];
        while !self.is_over.load(Ordering::Relaxed) && self.reason().is_none() {
            for (command, last) in self.config.safety.stop_if.iter().zip(&mut last) {
                if last.elapsed() >= command.every {
                    *last = Instant::now();
                    let _ = failure(command).inspect(|why| self.note(why));
                }
            }
            std::thread::sleep(GLANCE);
        }
    }

    fn note(&self, why: &Stop) {
        if let Ok(mut stop) = self.stop.lock() {
            stop.get_or_insert(why.clone());
        }
    }
}

fn failure(command: &StopIf) -> Option<Stop> {
    let ran =
        target::with_laggard(&here(), &command.cmd).and_then(|script| here().run(&script, LONGEST_LOOK));
    let why = match ran {
        Ok(ran) if ran.is_well() => return None,
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
                write!(to, "it was not over in {} s (timeouts.cell) and was given up", longest.as_secs())
            }
            Stop::Condition(why) => to.write_str(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::testing::config;

    fn with(cmd: &str, every_ms: u64) -> Config {
        let mut config = config();
        config.safety.stop_if = vec![StopIf { cmd: cmd.into(), every: Duration::from_millis(every_ms) }];
        config
    }

    #[test]
    fn a_command_that_fails_is_told_with_what_it_said() {
        let config = with("echo 1 GB is left; exit 1", 200);
        let watch = Watch::begin(&config);
        let told = "safety.stop_if: `echo 1 GB is left; exit 1`: 1 GB is left";
        assert_eq!(watch.look(), Some(Stop::Condition(told.into())));
        assert_eq!(watch.why().unwrap().to_string(), told);
    }

    #[test]
    fn it_is_run_again_and_again_and_one_that_is_well_ends_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("enough");
        let config = with(&format!("[ ! -e {} ]", file.display()), 200);
        let watch = Watch::begin(&config);
        assert_eq!(watch.look(), None);
        std::thread::scope(|scope| {
            scope.spawn(|| watch.keep());
            assert!(!watch.is_stopped());
            std::fs::write(&file, "").unwrap();
            let begin = Instant::now();
            while !watch.is_stopped() && begin.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(GLANCE);
            }
            watch.end();
        });
        assert!(matches!(watch.why(), Some(Stop::Condition(_))));
    }

    #[test]
    fn a_cell_has_its_time() {
        let mut config = config();
        config.timeouts.cell = Duration::ZERO;
        assert_eq!(Watch::begin(&config).why(), Some(Stop::Time(Duration::ZERO)));
    }
}
