//! A separate process that outlives a killed controller and reverts its faults.
//!
//! The controller writes lines to it: `clean`, all faults are reverted; `leave`, the controller ends and its faults last
//! until their time is over; or a line of JSON for a journal that the guard keeps on another machine, which it answers.
//! An end of input without either word means that the controller is dead: all faults are reverted immediately. Faults
//! whose time is over are reverted in any case.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::journal::{ActiveFault, Event, Journal, now};
use super::operations;
use crate::machine::LabError;
use crate::machine::cgroup::ScopedCgroup;

const CLEAN: &str = "clean";
const LEAVE: &str = "leave";
const READY: &str = "ready";

/// The interval at which it checks the time.
const TICK: Duration = Duration::from_millis(250);
/// The longest pause between two attempts to revert a fault.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The time after which it gives up.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A guard, as its controller sees it.
#[derive(Debug)]
pub(crate) struct Guard {
    process: Child,
    /// Closed when the controller ends.
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    name: String,
}

impl Guard {
    /// Starts a program that calls [`run`], and waits until it is ready. Its errors go to a file: it outlives its
    /// controller, and a reader of the controller's output would wait for it.
    pub(crate) fn start(program: &mut Command, name: &str, log: &Path) -> Result<Guard, LabError> {
        let failed = |reason: String| LabError::Program { command: name.to_owned(), reason };
        let errors = File::options().create(true).append(true).open(log).map_err(LabError::at(log))?;
        let program = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut process = program.spawn().map_err(|error| failed(error.to_string()))?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(failed("it has no input or output".into()));
        };
        let mut guard = Guard { process, input, output: BufReader::new(output), name: name.to_owned() };
        match guard.expect(READY) {
            Ok(()) => Ok(guard),
            Err(error) => match std::fs::read_to_string(log).unwrap_or_default().trim() {
                "" => Err(error),
                text => Err(failed(text.to_owned())),
            },
        }
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Lets a guard on another machine record an event.
    pub(crate) fn record(&mut self, event: &Event) -> Result<(), LabError> {
        let line = serde_json::to_string(event).map_err(|error| LabError::Input(error.to_string()))?;
        self.send(&line)?;
        self.expect("written")
    }

    /// Ends it, since all faults are reverted.
    pub(crate) fn dismiss(mut self) -> Result<(), LabError> {
        self.send(CLEAN)?;
        drop(self.input);
        let name = self.name;
        let ended = self.process.wait().map(drop);
        ended.map_err(|error| LabError::Program { command: name, reason: error.to_string() })
    }

    /// Leaves the active faults to it.
    pub(crate) fn leave(mut self) -> Result<(), LabError> {
        self.send(LEAVE)
    }

    fn send(&mut self, word: &str) -> Result<(), LabError> {
        let sent = writeln!(self.input, "{word}").and_then(|()| self.input.flush());
        sent.map_err(|error| self.error(error.to_string()))
    }

    fn expect(&mut self, word: &str) -> Result<(), LabError> {
        let mut answer = String::new();
        match self.output.read_line(&mut answer) {
            Ok(_) if answer.trim() == word => Ok(()),
            Ok(_) => Err(self.error(format!("it answered {:?}, expected {word}", answer.trim()))),
            Err(error) => Err(self.error(error.to_string())),
        }
    }

    fn error(&self, reason: String) -> LabError {
        LabError::Program { command: self.name.clone(), reason }
    }
}

/// Detaches this process, a guard, from the terminal's signals and from the control group of its controller. The groups
/// are removed when they are dropped.
pub fn detach() -> Vec<ScopedCgroup> {
    // It fails only for the leader of a session.
    let _ = rustix::process::setsid();
    ScopedCgroup::for_guard()
}

/// Watches a journal until all its faults are reverted; without a journal, a new one in `folder` that the controller
/// writes through `controller`.
pub fn run(
    folder: &Path,
    journal: Option<&Path>,
    controller: impl Read + Send + 'static,
    mut answers: impl Write,
) -> Result<(), LabError> {
    let journal = journal.map_or_else(|| Journal::create(folder), |path| Ok(Journal::open(path)))?;
    let path = journal.beside("guard");
    let alive = File::create(&path).map_err(LabError::at(&path))?;
    alive.lock().map_err(LabError::at(&path))?;
    // If the controller is gone, its input ends in a moment.
    let mut answer = |word: &str| drop(writeln!(answers, "{word}").and_then(|()| answers.flush()));
    answer(READY);
    let messages = listen(controller);
    let (mut is_left, mut seen) = (false, BTreeMap::new());
    loop {
        match messages.recv_timeout(TICK) {
            Ok(Message::Clean) => break,
            Ok(Message::Leave) => is_left = true,
            Ok(Message::Record(event)) => {
                let written = journal.write(*event);
                answer(&written.map_or_else(|error| error.to_string(), |()| "written".into()));
            }
            Err(RecvTimeoutError::Disconnected) if !is_left => {
                log(&journal, "the controller is gone");
                break;
            }
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(TICK),
            Err(RecvTimeoutError::Timeout) => {}
        }
        note_new(&journal, &mut seen);
        revert_persistently(&journal, &|fault| is_over(fault, &seen));
        if is_left && journal.active().is_ok_and(|left| left.is_empty()) {
            break;
        }
    }
    revert_persistently(&journal, &|_| true);
    journal.remove()
}

/// Notes when the guard has first seen each fault: the wall clock may be set back meanwhile.
fn note_new(journal: &Journal, seen: &mut BTreeMap<(String, Duration), Instant>) {
    for fault in journal.active().unwrap_or_default() {
        seen.entry((fault.planned.id, fault.since)).or_insert_with(Instant::now);
    }
}

/// By the wall clock or by the monotonic one.
fn is_over(fault: &ActiveFault, seen: &BTreeMap<(String, Duration), Instant>) -> bool {
    let age = seen.get(&(fault.planned.id.clone(), fault.since)).map(Instant::elapsed);
    fault.left().is_none() || age.zip(fault.planned.ttl()).is_some_and(|(age, ttl)| age > ttl)
}

enum Message {
    Clean,
    Leave,
    Record(Box<Event>),
}

/// The messages of the controller, until its input ends.
fn listen(controller: impl Read + Send + 'static) -> Receiver<Message> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(controller).lines().map_while(Result::ok) {
            let message = match line.as_str() {
                CLEAN => Message::Clean,
                LEAVE => Message::Leave,
                // An incomplete line is the last one.
                other => match serde_json::from_str(other) {
                    Ok(event) => Message::Record(Box::new(event)),
                    Err(_) => return,
                },
            };
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Reverts faults, and tries again until it succeeds.
fn revert_persistently(journal: &Journal, is_selected: &dyn Fn(&ActiveFault) -> bool) {
    let (begin, mut pause) = (Instant::now(), Duration::from_secs(1));
    let is_any_left = || journal.active().is_ok_and(|faults| faults.iter().any(is_selected));
    while is_any_left() {
        match operations::revert_some(journal, is_selected, 1) {
            Err(error) => log(journal, &error.to_string()),
            Ok(outcomes) => outcomes.into_iter().for_each(|outcome| {
                let result =
                    outcome.error.map_or_else(|| "reverted".into(), |why| format!("not reverted: {why}"));
                log(journal, &format!("{} at {}: {result}", outcome.id, outcome.nodes.join(", ")));
            }),
        }
        if !is_any_left() {
            return;
        }
        if begin.elapsed() > PATIENCE {
            log(journal, "given up: run `laggard inject recover`");
            return;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Appends a line to the guard's log. An error cannot be reported anywhere.
fn log(journal: &Journal, line: &str) {
    let file = File::options().create(true).append(true).open(journal.beside("log"));
    let _ = file.and_then(|mut file| writeln!(file, "{:.3} {line}", now().as_secs_f64()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{planned, shell};
    use crate::undo::apply;
    use std::os::unix::net::UnixStream;

    /// A journal with one fault, which creates a file.
    fn with_fault(folder: &Path, ttl_seconds: u64) -> (Journal, std::path::PathBuf) {
        let journal = Journal::create(folder).unwrap();
        let file = folder.join("fault");
        let mut planned = planned("a");
        planned.ttl_seconds = Some(ttl_seconds);
        planned.steps[0].apply = shell(&format!("touch {}", file.display()));
        planned.steps[0].revert = shell(&format!("rm -f {}", file.display()));
        apply(&journal, &planned).unwrap();
        (journal, file)
    }

    /// Runs a guard that reads these bytes and then the end of its input.
    fn after(words: &[u8], ttl_seconds: u64) -> (bool, String, Duration) {
        let folder = tempfile::tempdir().unwrap();
        let (journal, file) = with_fault(folder.path(), ttl_seconds);
        let (mut line, end) = UnixStream::pair().unwrap();
        line.write_all(words).unwrap();
        drop(line);
        let begin = Instant::now();
        run(folder.path(), Some(journal.path()), end, std::io::sink()).unwrap();
        let log = std::fs::read_to_string(journal.beside("log")).unwrap_or_default();
        assert!(!journal.path().exists() && !journal.is_guarded());
        (file.exists(), log, begin.elapsed())
    }

    #[test]
    fn when_the_controller_is_gone_all_faults_are_reverted_immediately() {
        let (is_there, log, took) = after(b"", 3600);
        assert!(!is_there && log.contains("the controller is gone") && log.contains("a at here: reverted"));
        assert!(took < Duration::from_secs(10));
        // An incomplete word does not count.
        assert!(!after(b"lea", 3600).0);
    }

    #[test]
    fn a_fault_that_is_left_to_the_guard_lasts_until_its_time_is_over() {
        let (is_there, log, took) = after(b"leave\n", 1);
        assert!(!is_there && log.contains("reverted") && !log.contains("gone"), "{log}");
        assert!(took > Duration::from_millis(500), "{took:?}");
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_prolong_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        let (journal, _) = with_fault(folder.path(), 60);
        let mut fault = journal.active().unwrap().remove(0);
        fault.since += Duration::from_secs(3600);
        let of = |age| {
            BTreeMap::from([(("a".to_owned(), fault.since), Instant::now() - Duration::from_secs(age))])
        };
        assert!(!is_over(&fault, &of(59)) && is_over(&fault, &of(61)));
    }

    #[test]
    fn faults_that_are_left_after_clean_are_reverted() {
        assert!(!after(b"clean\n", 3600).0);
    }

    #[test]
    fn a_guard_on_another_machine_keeps_its_own_journal() {
        let folder = tempfile::tempdir().unwrap();
        let (mut line, end) = UnixStream::pair().unwrap();
        let mut planned = planned("b");
        let file = folder.path().join("fault");
        std::fs::write(&file, "").unwrap();
        planned.steps[0].revert = shell(&format!("rm -f {}", file.display()));
        let event = Event::Intent { fault: Box::new(planned), marks: Default::default() };
        writeln!(line, "{}", serde_json::to_string(&event).unwrap()).unwrap();
        drop(line);
        let mut answers = vec![];
        run(folder.path(), None, end, &mut answers).unwrap();
        assert_eq!(String::from_utf8(answers).unwrap(), "ready\nwritten\n");
        assert!(!file.exists());
    }
}
