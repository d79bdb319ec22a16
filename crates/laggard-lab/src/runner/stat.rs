//! What became of each step, a line each, on disk before the next one begins.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::machine::LabError;
use crate::work::outcome::Outcome;
use crate::work::tally::Tally;

/// The parts of a cell, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Whether it can begin.
    Preflight,
    /// The system comes up.
    Setup,
    /// It is made to look used.
    Age,
    /// What is checked later is written, and everything is well.
    Init,
    /// The fault.
    Inject,
    /// What the system makes of it by itself.
    Observe,
    /// The system's own check.
    Fsck,
    /// Ours.
    Check,
    /// The fault is taken away.
    Heal,
    /// The system goes, and nothing is left.
    Teardown,
}

impl Phase {
    /// All of them, in order.
    pub const ALL: [Phase; 10] = [
        Phase::Preflight,
        Phase::Setup,
        Phase::Age,
        Phase::Init,
        Phase::Inject,
        Phase::Observe,
        Phase::Fsck,
        Phase::Check,
        Phase::Heal,
        Phase::Teardown,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Preflight => "preflight",
            Phase::Setup => "setup",
            Phase::Age => "age",
            Phase::Init => "init",
            Phase::Inject => "inject",
            Phase::Observe => "observe",
            Phase::Fsck => "fsck",
            Phase::Check => "check",
            Phase::Heal => "heal",
            Phase::Teardown => "teardown",
        }
    }
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stat {
    /// The cell's name.
    pub cell: String,
    /// The fault.
    pub fault: Option<String>,
    /// Who is hurt.
    pub nodes: Vec<String>,
    /// Which repeat.
    pub repeat: u32,
    /// The part of the cell.
    pub phase: Phase,
    /// The step in it.
    pub step: String,
    /// Where it ran.
    pub node: String,
    /// The command.
    pub argv: String,
    /// Since 1970.
    pub start_ns: u64,
    /// Since 1970.
    pub end_ns: u64,
    /// Its exit status.
    pub rc: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// One word.
    pub outcome: Outcome,
    /// The error that it met.
    pub errno: Option<i32>,
    /// Something that the word does not say.
    pub note: Option<String>,
    /// What became of its files.
    pub tally: Option<Tally>,
    /// The end of what it said.
    pub stdout_tail: String,
    /// The end of what it complained about.
    pub stderr_tail: String,
    /// By which nodes are known not to have been booted since.
    pub boot_ids: BTreeMap<String, String>,
}

impl Stat {
    /// How long it took.
    pub fn seconds(&self) -> f64 {
        self.end_ns.saturating_sub(self.start_ns) as f64 * 1e-9
    }

    /// `partial(3/40 EIO)`, `ok`.
    pub fn short(&self) -> String {
        let verdict = |tally: &Tally| crate::work::tally::Verdict {
            outcome: self.outcome,
            errno: self.errno,
            tally: tally.clone(),
        };
        self.tally.as_ref().map_or_else(|| self.outcome.to_string(), |tally| verdict(tally).short())
    }
}

/// Lines that are on disk as soon as they are written.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: File,
}

impl Ledger {
    /// A file to add lines to. A line that was cut short is ended, so that it spoils no other.
    pub fn open(path: &Path) -> Result<Ledger, LabError> {
        let opened = File::options().create(true).append(true).open(path).and_then(|mut file| {
            if std::fs::read(path)?.last().is_some_and(|last| *last != b'\n') {
                file.write_all(b"\n")?;
            }
            Ok(file)
        });
        Ok(Ledger { path: path.to_owned(), file: opened.map_err(LabError::at(path))? })
    }

    /// Adds a line.
    pub fn add(&mut self, line: &impl Serialize) -> Result<(), LabError> {
        let text = serde_json::to_string(line).map_err(|error| LabError::Input(error.to_string()))?;
        let written = self.file.write_all((text + "\n").as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(LabError::at(&self.path))
    }
}

/// The lines of such a file. One that was cut short is as if it was never written.
pub fn lines<T: serde::de::DeserializeOwned>(path: &Path) -> Vec<T> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The wall clock, in nanoseconds since 1970.
pub fn now_ns() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// The end of a text that may be long.
pub fn tail(text: &str) -> String {
    const MOST: usize = 4000;
    let from = text.len().saturating_sub(MOST);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text.get(from..).unwrap_or_default().to_owned()
}

/// What a program said, as far as anybody would read it.
pub fn said(path: &Path) -> String {
    const MOST: usize = 1 << 20;
    let text = std::fs::read(path).unwrap_or_default();
    let from = text.len().saturating_sub(MOST);
    String::from_utf8_lossy(text.get(from..).unwrap_or_default()).into_owned()
}

/// When the machine was started, for messages of the kernel that count from then.
pub(crate) fn booted_us() -> Option<u64> {
    // Not from /proc/stat, which has whole seconds.
    let text = std::fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some((now_ns() / 1000).saturating_sub((uptime * 1e6) as u64))
}
