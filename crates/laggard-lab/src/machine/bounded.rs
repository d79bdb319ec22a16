//! Programs that may hang: each has its time, and is ended when it is over.
//!
//! A program hangs that has not ended in its time, or that has neither said anything nor moved a byte for as long as
//! it may be quiet. It runs in a process group and, where there may be one, a control group of its own. All that is in
//! either is asked to end, then killed. What is still there after that waits in the kernel, and nothing ends it: what it
//! waits for is written down.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::LabError;
use super::pen::Pen;

/// How long a program may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// In all.
    pub longest: Duration,
    /// Without a sign of life; none: as long as in all.
    pub quiet: Option<Duration>,
    /// From the request to end to the kill.
    pub term_grace: Duration,
    /// From the kill until it counts as stuck.
    pub kill_grace: Duration,
}

/// How a program did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hang {
    /// It could be killed.
    Killed,
    /// It could not.
    Stuck,
}

/// How a program ended, or did not.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its exit status.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it hung.
    pub hang: Option<Hang>,
    /// Whether the caller wanted it to end.
    pub is_interrupted: bool,
    /// How long it took.
    pub took: Duration,
}

/// Where a program's words go, and what it waits for if it gets stuck.
#[derive(Clone, Debug)]
pub struct Files {
    /// Standard output.
    pub stdout: PathBuf,
    /// Standard error.
    pub stderr: PathBuf,
    /// What the kernel says of processes that cannot be killed.
    pub evidence: PathBuf,
}

/// How often a program is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// To look for signs of life reads all of /proc.
const LOOK_FOR_LIFE: Duration = Duration::from_millis(500);
/// What `/proc/PID` tells of one that waits.
const TELLING: [&str; 5] = ["status", "wchan", "syscall", "stack", "cmdline"];

/// Runs a program to its end, or until it hangs. `free` is asked to let go of one that is stuck, before it is given up;
/// `is_over` ends it early.
pub fn run(
    command: Command,
    bounds: &Bounds,
    files: &Files,
    free: &dyn Fn(),
    is_over: &dyn Fn() -> bool,
) -> Result<Ended, LabError> {
    let open = |path: &Path| File::create(path).map_err(LabError::at(path));
    let name = command.get_program().to_string_lossy().into_owned();
    let pen = Pen::make();
    let mut command = match &pen {
        Some(pen) => pen.around(&command),
        None => command,
    };
    // Files, not pipes: whoever is left of the group may keep them open.
    command.stdin(Stdio::null()).stdout(open(&files.stdout)?).stderr(open(&files.stderr)?).process_group(0);
    let begin = Instant::now();
    let told = |error: std::io::Error| LabError::Program { command: name.clone(), told: error.to_string() };
    let child = command.spawn().map_err(told)?;
    let mut running = Running { child, pen, begin, life: Life::default(), moved: begin, looked: begin };
    let (status, is_interrupted) = running.watch(bounds, files, is_over);
    if let Some(status) = status {
        return Ok(ended(begin, Some(status), None, false));
    }
    let status = running.end(bounds, files, free);
    let hang = if status.is_some() { Hang::Killed } else { Hang::Stuck };
    Ok(ended(begin, status, (!is_interrupted).then_some(hang), is_interrupted))
}

fn ended(begin: Instant, status: Option<ExitStatus>, hang: Option<Hang>, is_interrupted: bool) -> Ended {
    Ended {
        code: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        hang,
        is_interrupted,
        took: begin.elapsed(),
    }
}

/// Signs of life: bytes that were said, and that were moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Life {
    said: u64,
    moved: u64,
}

struct Running {
    child: Child,
    pen: Option<Pen>,
    begin: Instant,
    life: Life,
    moved: Instant,
    looked: Instant,
}

impl Running {
    /// Waits until the program ends; none if it hangs, or if the caller wants it to end.
    fn watch(
        &mut self,
        bounds: &Bounds,
        files: &Files,
        is_over: &dyn Fn() -> bool,
    ) -> (Option<ExitStatus>, bool) {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return (Some(status), false),
                _ if is_over() => return (None, true),
                _ if self.begin.elapsed() >= bounds.longest || self.is_quiet(bounds, files) => {
                    return (None, false);
                }
                _ => std::thread::sleep(LOOK),
            }
        }
    }

    fn is_quiet(&mut self, bounds: &Bounds, files: &Files) -> bool {
        let Some(quiet) = bounds.quiet else { return false };
        if self.looked.elapsed() >= LOOK_FOR_LIFE {
            self.looked = Instant::now();
            let life = Life { said: said(files), moved: moved(&self.members()) };
            if life != self.life {
                (self.life, self.moved) = (life, self.looked);
            }
        }
        self.moved.elapsed() >= quiet
    }

    /// Ends the group; none if that cannot be done.
    fn end(&mut self, bounds: &Bounds, files: &Files, free: &dyn Fn()) -> Option<ExitStatus> {
        for (signal, grace) in [(Signal::TERM, bounds.term_grace), (Signal::KILL, bounds.kill_grace)] {
            self.send(signal);
            if let Some(status) = self.wait(grace) {
                return Some(status);
            }
        }
        // It is evidence only while it lasts.
        let _ = std::fs::write(&files.evidence, evidence(&self.members()));
        free();
        self.wait(bounds.kill_grace)
    }

    fn send(&self, signal: Signal) {
        let number = |process: u32| i32::try_from(process).ok().and_then(Pid::from_raw);
        // One that is gone is what is wanted.
        let _ = number(self.child.id()).map(|leader| rustix::process::kill_process_group(leader, signal));
        for member in self.members().into_iter().filter_map(number) {
            let _ = rustix::process::kill_process(member, signal);
        }
    }

    /// All processes of its group, and those that have left it and are in the pen.
    fn members(&self) -> Vec<u32> {
        let mut members = group(self.child.id());
        members.extend(self.pen.iter().flat_map(Pen::members).filter(|member| is_alive(*member)));
        members.sort_unstable();
        members.dedup();
        members
    }

    /// Waits for the first process, and for all others that it has started.
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

fn said(files: &Files) -> u64 {
    [&files.stdout, &files.stderr].iter().filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum()
}

/// What processes have read and written.
fn moved(processes: &[u32]) -> u64 {
    let of = |process: &u32| {
        let text = std::fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
        let figures = text.lines().filter(|line| line.starts_with("rchar:") || line.starts_with("wchar:"));
        figures.filter_map(|line| line.split_once(": ")?.1.trim().parse::<u64>().ok()).sum::<u64>()
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
        for name in TELLING {
            let told = std::fs::read(format!("/proc/{process}/{name}"));
            let told = told.map_or_else(
                |error| error.to_string(),
                |bytes| String::from_utf8_lossy(&bytes).replace('\0', " "),
            );
            text += &format!("== {process} {name}\n{told}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests;
