//! A process of its own that outlives a killed controller, and undoes what that one did.
//!
//! It reads lines from its controller: `clean`, all is undone; `leave`, the controller goes, and what it did stands
//! until its time is over; or a line of JSON for a journal of the guard's own, on another machine, which it answers.
//! An end without either word means that the controller is dead: all is undone at once. It undoes what has stood for
//! longer than it may in any case.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::apart::Apart;
use super::doing;
use super::journal::{Event, Journal, Standing, now};
use crate::machine::LabError;

const CLEAN: &str = "clean";
const LEAVE: &str = "leave";
const READY: &str = "ready";

/// How often it looks at the clock.
const GLANCE: Duration = Duration::from_millis(250);
/// Between two attempts to undo something, at the most.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// When it gives up.
const STAMINA: Duration = Duration::from_secs(3600);

/// A guard, as its controller sees it.
#[derive(Debug)]
pub(super) struct Guard {
    process: Child,
    /// Closed when the controller ends, however it does.
    line: ChildStdin,
    said: BufReader<ChildStdout>,
    name: String,
}

impl Guard {
    /// Starts a program that calls [`keep`], and waits until it watches. What it complains about goes to a file:
    /// it outlives its controller, and whoever reads what that one says would wait for it.
    pub fn start(program: &mut Command, name: &str, log: &Path) -> Result<Guard, LabError> {
        let failed = |told: String| LabError::Program { command: name.to_owned(), told };
        let complaints = File::options().create(true).append(true).open(log).map_err(LabError::at(log))?;
        let program = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(complaints);
        let mut process = program.spawn().map_err(|error| failed(error.to_string()))?;
        let (Some(line), Some(said)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(failed("it has no lines to us".into()));
        };
        let mut guard = Guard { process, line, said: BufReader::new(said), name: name.to_owned() };
        match guard.hears(READY) {
            Ok(()) => Ok(guard),
            Err(error) => match std::fs::read_to_string(log).unwrap_or_default().trim() {
                "" => Err(error),
                said => Err(failed(said.to_owned())),
            },
        }
    }

    /// Whether it is still there.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Lets a guard on another machine write something down.
    pub fn tell(&mut self, event: &Event) -> Result<(), LabError> {
        let line = serde_json::to_string(event).map_err(|error| LabError::Input(error.to_string()))?;
        self.say(&line)?;
        self.hears("written")
    }

    /// Lets it go, since all is undone.
    pub fn dismiss(mut self) -> Result<(), LabError> {
        self.say(CLEAN)?;
        drop(self.line);
        let name = self.name;
        let ended = self.process.wait().map(drop);
        ended.map_err(|error| LabError::Program { command: name, told: error.to_string() })
    }

    /// Leaves it alone with what stands.
    pub fn leave(mut self) -> Result<(), LabError> {
        self.say(LEAVE)
    }

    fn say(&mut self, word: &str) -> Result<(), LabError> {
        let said = writeln!(self.line, "{word}").and_then(|()| self.line.flush());
        said.map_err(|error| self.line_error(error.to_string()))
    }

    fn hears(&mut self, word: &str) -> Result<(), LabError> {
        let mut answer = String::new();
        let heard = self.said.read_line(&mut answer);
        match heard {
            Ok(_) if answer.trim() == word => Ok(()),
            Ok(_) => Err(self.line_error(format!("it said {:?}, not {word}", answer.trim()))),
            Err(error) => Err(self.line_error(error.to_string())),
        }
    }

    fn line_error(&self, told: String) -> LabError {
        LabError::Program { command: self.name.clone(), told }
    }
}

/// Whether a guard watches over a journal.
pub fn watches(journal: &Journal) -> bool {
    let file = File::open(journal.beside("guard"));
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
}

/// From now on no terminal's signals reach this process, and whoever kills all of its controller's control group does
/// not kill it.
pub fn stand_alone() -> Apart {
    // It fails only for one that leads a session already.
    let _ = rustix::process::setsid();
    Apart::go()
}

/// The life of a guard over a journal; or, without one, over a new one in a folder, of which it is told.
pub fn keep(
    folder: &Path,
    journal: Option<&Path>,
    controller: impl Read + Send + 'static,
    mut answers: impl Write,
) -> Result<(), LabError> {
    let journal = journal.map_or_else(|| Journal::create(folder), |path| Ok(Journal::open(path)))?;
    let path = journal.beside("guard");
    let life = File::create(&path).map_err(LabError::at(&path))?;
    life.lock().map_err(LabError::at(&path))?;
    // A controller that is gone already is heard of in a moment.
    let mut answer = |word: &str| drop(writeln!(answers, "{word}").and_then(|()| answers.flush()));
    answer(READY);
    let words = listen(controller);
    let (mut is_left, mut seen) = (false, BTreeMap::new());
    loop {
        match words.recv_timeout(GLANCE) {
            Ok(Word::Clean) => break,
            Ok(Word::Leave) => is_left = true,
            Ok(Word::Write(event)) => {
                let written = journal.write(*event);
                answer(&written.map_or_else(|error| error.to_string(), |()| "written".into()));
            }
            Err(RecvTimeoutError::Disconnected) if !is_left => {
                note(&journal, "the controller is gone");
                break;
            }
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(GLANCE),
            Err(RecvTimeoutError::Timeout) => {}
        }
        note_new(&journal, &mut seen);
        insist(&journal, &|deed| is_over(deed, &seen));
        if is_left && journal.standing().is_ok_and(|left| left.is_empty()) {
            break;
        }
    }
    insist(&journal, &|_| true);
    journal.remove()
}

/// Since when the guard knows of each deed: the wall clock may be set back meanwhile.
fn note_new(journal: &Journal, seen: &mut BTreeMap<(String, Duration), Instant>) {
    for deed in journal.standing().unwrap_or_default() {
        seen.entry((deed.deed.id, deed.since)).or_insert_with(Instant::now);
    }
}

/// By the wall clock or by the guard's own.
fn is_over(deed: &Standing, seen: &BTreeMap<(String, Duration), Instant>) -> bool {
    let known = seen.get(&(deed.deed.id.clone(), deed.since)).map(Instant::elapsed);
    deed.left().is_none() || known.is_some_and(|age| age > deed.deed.ttl())
}

enum Word {
    Clean,
    Leave,
    Write(Box<Event>),
}

/// What the controller says, until it says no more.
fn listen(controller: impl Read + Send + 'static) -> Receiver<Word> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(controller).lines().map_while(Result::ok) {
            let word = match line.as_str() {
                CLEAN => Word::Clean,
                LEAVE => Word::Leave,
                // A line that was cut short is the last one.
                other => match serde_json::from_str(other) {
                    Ok(event) => Word::Write(Box::new(event)),
                    Err(_) => return,
                },
            };
            if sender.send(word).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Undoes some of what stands, over and over until it is done.
fn insist(journal: &Journal, is_meant: &dyn Fn(&Standing) -> bool) {
    let (begin, mut pause) = (Instant::now(), Duration::from_secs(1));
    while journal.standing().is_ok_and(|deeds| deeds.iter().any(is_meant)) {
        match doing::undo_some(journal, is_meant, 1) {
            Err(error) => note(journal, &error.to_string()),
            Ok(findings) => findings.into_iter().for_each(|finding| {
                let outcome =
                    finding.complaint.map_or_else(|| "undone".into(), |why| format!("not undone: {why}"));
                note(journal, &format!("{} at {}: {outcome}", finding.id, finding.nodes.join(", ")));
            }),
        }
        if !journal.standing().is_ok_and(|deeds| deeds.iter().any(is_meant)) {
            return;
        }
        if begin.elapsed() > STAMINA {
            note(journal, "given up: run `laggard inject recover`");
            return;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// A line in the guard's log. If that fails there is nobody to tell.
fn note(journal: &Journal, line: &str) {
    let file = File::options().create(true).append(true).open(journal.beside("log"));
    let _ = file.and_then(|mut file| writeln!(file, "{:.3} {line}", now().as_secs_f64()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::doing::apply;
    use crate::inject::testing::{deed, shell};
    use std::os::unix::net::UnixStream;

    /// A journal with one deed, which makes a file and removes it.
    fn with_deed(folder: &Path, ttl_seconds: u64) -> (Journal, std::path::PathBuf) {
        let journal = Journal::create(folder).unwrap();
        let file = folder.join("hurt");
        let mut deed = deed("a");
        deed.ttl_seconds = ttl_seconds;
        deed.parts[0].apply = shell(&format!("touch {}", file.display()));
        deed.parts[0].undo = shell(&format!("rm -f {}", file.display()));
        apply(&journal, &deed).unwrap();
        (journal, file)
    }

    /// What is left after a guard has heard these words, and then nothing more.
    fn after(words: &[u8], ttl_seconds: u64) -> (bool, String, Duration) {
        let folder = tempfile::tempdir().unwrap();
        let (journal, file) = with_deed(folder.path(), ttl_seconds);
        let (mut line, end) = UnixStream::pair().unwrap();
        line.write_all(words).unwrap();
        drop(line);
        let begin = Instant::now();
        keep(folder.path(), Some(journal.path()), end, std::io::sink()).unwrap();
        let log = std::fs::read_to_string(journal.beside("log")).unwrap_or_default();
        assert!(!journal.path().exists() && !watches(&journal));
        (file.exists(), log, begin.elapsed())
    }

    #[test]
    fn when_the_controller_is_gone_all_is_undone_at_once() {
        let (is_there, log, took) = after(b"", 3600);
        assert!(!is_there && log.contains("the controller is gone") && log.contains("a at here: undone"));
        assert!(took < Duration::from_secs(10));
        // Half a word is none.
        assert!(!after(b"lea", 3600).0);
    }

    #[test]
    fn what_a_controller_leaves_stands_until_its_time_is_over() {
        let (is_there, log, took) = after(b"leave\n", 1);
        assert!(!is_there && log.contains("undone") && !log.contains("gone"), "{log}");
        assert!(took > Duration::from_millis(500), "{took:?}");
    }

    #[test]
    fn a_clock_that_is_set_back_lengthens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (journal, _) = with_deed(folder.path(), 60);
        let mut deed = journal.standing().unwrap().remove(0);
        deed.since += Duration::from_secs(3600);
        let of =
            |age| BTreeMap::from([(("a".to_owned(), deed.since), Instant::now() - Duration::from_secs(age))]);
        assert!(!is_over(&deed, &of(59)) && is_over(&deed, &of(61)));
    }

    #[test]
    fn one_who_says_clean_and_is_not_is_not_believed() {
        assert!(!after(b"clean\n", 3600).0);
    }

    #[test]
    fn a_guard_elsewhere_keeps_a_journal_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (mut line, end) = UnixStream::pair().unwrap();
        let mut hurt = deed("b");
        let file = folder.path().join("hurt");
        std::fs::write(&file, "").unwrap();
        hurt.parts[0].undo = shell(&format!("rm -f {}", file.display()));
        let event = Event::Intent { deed: Box::new(hurt), marks: Default::default() };
        writeln!(line, "{}", serde_json::to_string(&event).unwrap()).unwrap();
        drop(line);
        let mut answers = vec![];
        keep(folder.path(), None, end, &mut answers).unwrap();
        assert_eq!(String::from_utf8(answers).unwrap(), "ready\nwritten\n");
        assert!(!file.exists());
    }
}
