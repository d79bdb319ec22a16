//! Runs programs that may hang, with a time limit.
//!
//! A program hangs if it has not ended within its time, or if it has neither printed anything nor moved a byte for its
//! longest quiet period. It runs in a process group and, where possible, a control group of its own. Everything in either
//! is asked to end, then killed. What remains waits in the kernel and cannot be ended: what it waits for is saved.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::LabError;
use super::cgroup::ScopedCgroup;

/// The time limits of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) longest: Duration,
    /// The longest time without a sign of life; none: no limit of its own.
    pub(crate) quiet: Option<Duration>,
    /// From SIGTERM to SIGKILL.
    pub(crate) term_grace: Duration,
    /// From SIGKILL until it counts as stuck.
    pub(crate) kill_grace: Duration,
}

/// How a program that hung ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hang {
    Killed,
    /// It could not be killed.
    Stuck,
}

/// How a program ended.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) hang: Option<Hang>,
    /// The caller ended it early.
    pub(crate) is_interrupted: bool,
}

/// Files for the output of a program, and for what it waits for if it gets stuck.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub(crate) stdout: PathBuf,
    pub(crate) stderr: PathBuf,
    pub(crate) evidence: PathBuf,
}

/// The exit status and output of a short program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// None if it could not be killed.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) is_hung: bool,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// The longest pause between two looks at a running program; the first ones are shorter.
const LOOK: Duration = Duration::from_millis(20);
/// Looking for signs of life reads all of /proc.
const LOOK_FOR_LIFE: Duration = Duration::from_millis(500);
/// Files of `/proc/PID` that show what a stuck process waits for.
const EVIDENCE: [&str; 5] = ["status", "wchan", "syscall", "stack", "cmdline"];
/// How long a killed program may take to end; one that waits for a dead disk never does.
const CAPTURE_GRACE: Duration = Duration::from_secs(2);

/// Runs a program to its end, or until it hangs. `free` releases a stuck program before it is given up; `is_over` ends
/// it early.
pub(crate) fn run(
    command: Command,
    bounds: &Bounds,
    files: &Files,
    free: &dyn Fn(),
    is_over: &dyn Fn() -> bool,
) -> Result<Ended, LabError> {
    let open = |path: &Path| File::create(path).map_err(LabError::at(path));
    let name = command.get_program().to_string_lossy().into_owned();
    let cgroup = ScopedCgroup::for_program();
    let mut command = match &cgroup {
        Some(group) => group.around(&command),
        None => command,
    };
    // Files, not pipes: remaining members of the group may keep them open.
    command.stdin(Stdio::null()).stdout(open(&files.stdout)?).stderr(open(&files.stderr)?);
    let failed =
        |error: std::io::Error| LabError::Program { command: name.clone(), reason: error.to_string() };
    let mut running = Running::start(&mut command, cgroup, Some(files)).map_err(failed)?;
    let (status, is_interrupted) = running.watch(bounds, is_over);
    if let Some(status) = status {
        return Ok(ended(Some(status), None, false));
    }
    let status = running.end(bounds, free);
    let hang = if status.is_some() { Hang::Killed } else { Hang::Stuck };
    Ok(ended(status, (!is_interrupted).then_some(hang), is_interrupted))
}

/// Runs a program, and collects its output. If it has input, its standard input stays open until the program or its
/// caller ends.
pub(crate) fn capture(
    command: &mut Command,
    input: Option<&str>,
    limit: Duration,
) -> std::io::Result<Captured> {
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running::start(command, None, None)?;
    let (_open, is_over) = mpsc::channel::<()>();
    if let (Some(input), Some(mut stdin)) = (input, running.child.stdin.take()) {
        let input = input.to_owned();
        std::thread::spawn(move || {
            // A program that ends early does not read all of it.
            let _ = stdin.write_all(input.as_bytes());
            let _ = is_over.recv();
        });
    }
    let (stdout, stderr) = (collect(running.child.stdout.take()), collect(running.child.stderr.take()));
    let bounds =
        Bounds { longest: limit, quiet: None, term_grace: Duration::ZERO, kill_grace: CAPTURE_GRACE };
    let (status, _) = running.watch(&bounds, &|| false);
    let is_hung = status.is_none();
    let status = status.or_else(|| running.kill(CAPTURE_GRACE));
    let text = |from: Receiver<Vec<u8>>| from.recv_timeout(CAPTURE_GRACE).unwrap_or_default();
    Ok(Captured { status, is_hung, stdout: text(stdout), stderr: text(stderr) })
}

fn collect(from: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = vec![];
        // What came before an error counts.
        let _ = from.map(|mut from| from.read_to_end(&mut text));
        let _ = sender.send(text);
    });
    receiver
}

impl Captured {
    /// It succeeded within its time.
    pub(crate) fn is_healthy(&self) -> bool {
        !self.is_hung && self.status.is_some_and(|status| status.success())
    }

    /// Why it failed, in its own words where it printed some.
    pub(crate) fn complaint(&self) -> String {
        let texts = [&self.stderr, &self.stdout].map(|text| String::from_utf8_lossy(text).trim().to_owned());
        let text = texts.into_iter().find(|text| !text.is_empty());
        match (self.is_hung, self.status) {
            (true, _) => format!("it did not end in time {}", text.unwrap_or_default()).trim().to_owned(),
            (false, status) => text.unwrap_or_else(|| status.map_or_else(String::new, |s| s.to_string())),
        }
    }
}

fn ended(status: Option<ExitStatus>, hang: Option<Hang>, is_interrupted: bool) -> Ended {
    Ended {
        code: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        hang,
        is_interrupted,
    }
}

/// Signs of life: bytes printed, and bytes moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Life {
    printed: u64,
    moved: u64,
}

struct Running<'a> {
    child: Child,
    cgroup: Option<ScopedCgroup>,
    files: Option<&'a Files>,
    begin: Instant,
    life: Life,
    last_life: Instant,
    last_look: Instant,
}

impl<'a> Running<'a> {
    fn start(
        command: &mut Command,
        cgroup: Option<ScopedCgroup>,
        files: Option<&'a Files>,
    ) -> std::io::Result<Running<'a>> {
        let begin = Instant::now();
        let child = command.process_group(0).spawn()?;
        Ok(Running { child, cgroup, files, begin, life: Life::default(), last_life: begin, last_look: begin })
    }

    /// Waits until the program ends; none if it hangs, or if the caller ends it (then true).
    fn watch(&mut self, bounds: &Bounds, is_over: &dyn Fn() -> bool) -> (Option<ExitStatus>, bool) {
        let mut pause = Duration::from_millis(1);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return (Some(status), false),
                _ if is_over() => return (None, true),
                _ if self.begin.elapsed() >= bounds.longest || self.is_quiet(bounds) => {
                    return (None, false);
                }
                _ => std::thread::sleep(pause),
            }
            pause = (pause * 2).min(LOOK);
        }
    }

    fn is_quiet(&mut self, bounds: &Bounds) -> bool {
        let Some(quiet) = bounds.quiet else { return false };
        if self.last_look.elapsed() >= LOOK_FOR_LIFE {
            self.last_look = Instant::now();
            let life = Life { printed: self.files.map_or(0, printed), moved: moved(&self.members()) };
            if life != self.life {
                (self.life, self.last_life) = (life, self.last_look);
            }
        }
        self.last_life.elapsed() >= quiet
    }

    /// Ends the program and all its processes; none if that is impossible.
    fn end(&mut self, bounds: &Bounds, free: &dyn Fn()) -> Option<ExitStatus> {
        self.send(Signal::TERM);
        if let Some(status) = self.wait(bounds.term_grace).or_else(|| self.kill(bounds.kill_grace)) {
            return Some(status);
        }
        if let Some(files) = self.files {
            // It is evidence only while the process is stuck.
            let _ = std::fs::write(&files.evidence, evidence(&self.members()));
        }
        free();
        self.wait(bounds.kill_grace)
    }

    fn kill(&mut self, grace: Duration) -> Option<ExitStatus> {
        self.send(Signal::KILL);
        self.wait(grace)
    }

    fn send(&self, signal: Signal) {
        let number = |process: u32| i32::try_from(process).ok().and_then(Pid::from_raw);
        // A process that has ended already is what is wanted.
        let _ = number(self.child.id()).map(|leader| rustix::process::kill_process_group(leader, signal));
        for member in self.members().into_iter().filter_map(number) {
            let _ = rustix::process::kill_process(member, signal);
        }
    }

    /// All processes of its process group, and those that have left it and are in the control group.
    fn members(&self) -> Vec<u32> {
        let mut members = group(self.child.id());
        members.extend(self.cgroup.iter().flat_map(ScopedCgroup::members).filter(|member| is_alive(*member)));
        members.sort_unstable();
        members.dedup();
        members
    }

    /// Waits for the first process and all that it has started.
    fn wait(&mut self, grace: Duration) -> Option<ExitStatus> {
        let begin = Instant::now();
        loop {
            if let Ok(Some(status)) = self.child.try_wait()
                && self.members().is_empty()
            {
                return Some(status);
            }
            if begin.elapsed() >= grace {
                return None;
            }
            std::thread::sleep(LOOK);
        }
    }
}

fn printed(files: &Files) -> u64 {
    [&files.stdout, &files.stderr].iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum()
}

/// Bytes that processes have read and written.
fn moved(processes: &[u32]) -> u64 {
    let of = |process: &u32| {
        let text = std::fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
        let counters = text.lines().filter(|line| line.starts_with("rchar:") || line.starts_with("wchar:"));
        counters.filter_map(|line| line.split_once(": ")?.1.trim().parse::<u64>().ok()).sum::<u64>()
    };
    processes.iter().map(of).sum()
}

/// The processes of a group that live, or wait in the kernel.
fn group(leader: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|process| group_of(*process) == Some(leader)).collect()
}

/// The group of a process that is not dead.
fn group_of(process: u32) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in brackets, may hold anything.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    fields.next().filter(|state| *state != "Z" && *state != "X")?;
    fields.nth(1)?.parse().ok()
}

fn is_alive(process: u32) -> bool {
    group_of(process).is_some()
}

fn evidence(processes: &[u32]) -> String {
    let mut text = String::new();
    for process in processes {
        for name in EVIDENCE {
            let read = std::fs::read(format!("/proc/{process}/{name}"));
            let read = read.map_or_else(
                |error| error.to_string(),
                |bytes| String::from_utf8_lossy(&bytes).replace('\0', " "),
            );
            text += &format!("== {process} {name}\n{read}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests;
