//! What a killed controller has left of a cell: found by what it wrote down before it did anything, and taken away.
//! Always: only what is provably of that cell is touched; a lab or a fault of somebody else is left alone.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::config::Config;
use crate::inject;
use crate::lab;
use crate::machine::LabError;
use crate::machine::cgroup::{self, ScopedCgroup};
use crate::machine::snapshot::Snapshot;
use crate::manifest::{self, Manifest};
use crate::runner::stat::{self, Ledger, Phase, now_ns};
use crate::undo::{self, Journal, Selection};

/// Held while a run is played or recovered; ends with the process, however that ends.
#[derive(Debug)]
pub struct Turn(#[allow(dead_code, reason = "closing it gives the lock back")] File);

impl Turn {
    /// Takes the turn of a run's folder.
    pub fn take(run: &Path) -> Result<Turn, LabError> {
        let file = File::open(run).map_err(LabError::at(run))?;
        match file.try_lock() {
            Ok(()) => Ok(Turn(file)),
            Err(_) => Err(LabError::Refused(format!(
                "{}: another laggard plays this run: wait for it, or end it",
                run.display()
            ))),
        }
    }
}

/// A cell that was not played to its end, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Its folder.
    pub cell: PathBuf,
    /// What was taken away.
    pub done: Vec<String>,
    /// What is there now and was not before it, or the other way round; and what could not be undone.
    pub left: Vec<String>,
}

/// A line of `cell.jsonl`.
#[derive(Debug, Deserialize)]
struct Edge {
    at_ns: u64,
    what: Value,
}

/// How the last line of a cell says that nothing is left of it.
const ENDS: [&str; 5] = ["refused", "CLEAN", "DIRTY", "interrupted", "recovered"];
/// A cell's parts that hold many files, and no cell.
const NO_CELLS: [&str; 3] = ["logs", "steps", "recorded"];

/// How long a guard takes to end at the most, once it has nothing to do.
const LAST_MOMENTS: Duration = Duration::from_secs(3);

/// What the first line of a cell says: who plays it.
pub fn signature() -> Value {
    json!({ "controller": std::process::id() })
}

/// Takes away what is left of all cells of a run that were cut short. The caller has the run's [`Turn`].
pub fn recover(run: &Path, config: &Config, _turn: &Turn) -> Result<Vec<Recovered>, LabError> {
    let mut recovered = vec![];
    for folder in cells(&run.join("cell")) {
        let edges: Vec<Edge> = stat::lines(&folder.join("cell.jsonl"));
        if edges.iter().any(|edge| edge.what.as_str().is_some_and(|what| ENDS.contains(&what))) {
            continue;
        }
        if let Some(first) = edges.first() {
            recovered.push(recover_cell(&folder, config, first)?);
        }
    }
    Ok(recovered)
}

/// The folders of all cells that have begun, also of replays.
fn cells(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    if folder.join("cell.jsonl").is_file() {
        found.push(folder.to_owned());
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let holds_cells = |path: &PathBuf| {
        path.is_dir() && !path.file_name().is_some_and(|name| NO_CELLS.iter().any(|no| name == *no))
    };
    let mut folders: Vec<PathBuf> = entries.filter(holds_cells).collect();
    folders.sort();
    found.extend(folders.iter().flat_map(|folder| cells(folder)));
    found
}

fn recover_cell(folder: &Path, config: &Config, first: &Edge) -> Result<Recovered, LabError> {
    let mut recovered = Recovered { cell: folder.to_owned(), done: vec![], left: vec![] };
    if let Some(id) = fault_id(folder) {
        recovered.undo(&id, config.timeouts.heal)?;
    }
    let controller = first.what["controller"].as_u64().and_then(|number| u32::try_from(number).ok());
    // A number may be given again: what is of another campaign that is being played is left alone.
    if let Some(controller) = controller.filter(|number| !is_playing(*number)) {
        for group in ScopedCgroup::left_by(controller) {
            group.kill()?;
            recovered.done.push("what a step had left was ended".into());
        }
        if let Some(name) = config
            .lab
            .as_ref()
            .map(|lab| lab.name.as_str())
            .filter(|name| is_of(name, controller, first.at_ns))
        {
            lab::down(name)?;
            recovered.done.push(format!("the lab {name} was taken down"));
        }
        remove_journals(controller);
        wait_for_guards();
    }
    if let Some(before) = Snapshot::read(&folder.join("before.json")) {
        recovered.left.extend(before.difference(&Snapshot::take()));
    }
    let word = if recovered.left.is_empty() { "recovered" } else { "DIRTY" };
    let line = json!({ "phase": Phase::Teardown, "at_ns": now_ns(), "what": word, "left": recovered.left });
    Ledger::open(&folder.join("cell.jsonl"))?.add(&line)?;
    Ok(recovered)
}

/// A guard that has nothing left to do is about to go, with its control group; that of a killed one is swept away. One
/// that stays is somebody else's.
fn wait_for_guards() {
    let begin = Instant::now();
    while cgroup::remove_abandoned_guards() && begin.elapsed() < LAST_MOMENTS {
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The fault of a cell, which is written down before it is applied.
fn fault_id(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join("fault.json")).ok()?;
    let fault: Value = serde_json::from_str(&text).ok()?;
    fault["id"].as_str().map(str::to_owned)
}

impl Recovered {
    /// In a sentence.
    pub fn told(&self, run: &Path) -> String {
        let cell = self.cell.strip_prefix(run.join("cell")).unwrap_or(&self.cell).display();
        let done = if self.done.is_empty() { "nothing was left".to_owned() } else { self.done.join(", ") };
        let left = if self.left.is_empty() {
            String::new()
        } else {
            format!("; and still: {}", self.left.join("; "))
        };
        format!("{cell} was cut short: {done}{left}")
    }

    /// Lets the guard finish, if it lives; else undoes the fault.
    fn undo(&mut self, id: &str, patience: Duration) -> Result<(), LabError> {
        let (begin, folder) = (Instant::now(), Path::new(inject::FOLDER));
        loop {
            let all = undo::active_faults(folder)?;
            match all.iter().find(|(fault, _)| fault.planned.id == id) {
                None => return Ok(()),
                Some((_, true)) if begin.elapsed() < patience => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                Some(_) => break,
            }
        }
        for outcome in undo::revert(folder, Selection::Id(id))? {
            match outcome.error {
                None => {
                    self.done.push(format!("{} at {} was reverted", outcome.fault, outcome.nodes.join(", ")))
                }
                Some(why) => self.left.push(format!("{} was not reverted: {why}", outcome.fault)),
            }
        }
        Ok(())
    }
}

/// Whether a process of that number plays a campaign now. Whoever played this one is gone, or would have the run's turn.
fn is_playing(process: u32) -> bool {
    let words = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
    process != std::process::id() && words.split('\0').any(|word| word == "campaign")
}

/// Whether a lab was made by that controller, after that time: its mark tells.
fn is_of(name: &str, controller: u32, since_ns: u64) -> bool {
    let folder = manifest::folder(name);
    match Manifest::read(&folder) {
        Ok(manifest) => made(&manifest.mark, name).is_some_and(|(micros, process)| {
            process == controller && micros.saturating_mul(1000) >= since_ns
        }),
        // Cut short before it had a manifest: an empty folder.
        Err(_) => folder.is_dir() && !folder.join("manifest.toml").exists(),
    }
}

/// When a lab was made, and by whom: `--mark=NAME-MICROS-PROCESS`.
fn made(mark: &str, name: &str) -> Option<(u64, u32)> {
    let rest = mark.strip_prefix("--mark=")?.strip_prefix(name)?.strip_prefix('-')?;
    let (micros, process) = rest.split_once('-')?;
    Some((u64::from_str_radix(micros, 16).ok()?, u32::from_str_radix(process, 16).ok()?))
}

/// The lab of that name, if this very process has made it.
pub(crate) fn own_lab(name: &str) -> Option<lab::Lab> {
    let lab = lab::Lab::open(name).ok()?;
    let (_, process) = made(&lab.manifest.mark, name)?;
    (process == std::process::id()).then_some(lab)
}

/// Journals of a controller that was killed before it wrote a fault down.
fn remove_journals(controller: u32) {
    let ending = format!("-{controller:x}");
    let is_its = |journal: &Journal| {
        journal.path().file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(&ending))
    };
    for journal in Journal::all(Path::new(inject::FOLDER)).into_iter().filter(is_its) {
        let is_empty = journal.faults().is_ok_and(|faults| faults.is_empty());
        if is_empty && !undo::guard::watches(&journal) {
            for ending in ["jsonl", "lock", "guard"] {
                // Half of them were never there.
                let _ = std::fs::remove_file(journal.path().with_extension(ending));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::config;
    use super::*;

    #[test]
    fn whose_a_lab_is_and_since_when_is_in_its_mark() {
        assert_eq!(made("--mark=a-b-5f0-1c", "a-b"), Some((0x5f0, 0x1c)));
        assert_eq!(made("--mark=a-b-5f0-1c", "a"), None);
        assert_eq!(made("--mark=other-5f0-1c", "a-b"), None);
    }

    #[test]
    fn one_at_a_time_plays_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let turn = Turn::take(folder.path()).unwrap();
        let error = Turn::take(folder.path()).unwrap_err().to_string();
        assert!(error.contains("another laggard plays this run"), "{error}");
        drop(turn);
        assert!(Turn::take(folder.path()).is_ok());
    }

    #[test]
    fn cells_that_are_over_are_left_alone_and_others_are_recovered_once() {
        let run = tempfile::tempdir().unwrap();
        let cell = |name: &str, lines: &str| {
            let folder = run.path().join("cell").join(name);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("cell.jsonl"), lines).unwrap();
            folder
        };
        let begin = "{\"phase\":\"preflight\",\"at_ns\":1,\"what\":{\"controller\":4194999}}\n";
        cell("a/ONE/1", &format!("{begin}{{\"phase\":\"teardown\",\"at_ns\":2,\"what\":\"CLEAN\"}}\n"));
        let cut = cell("a/ONE/2", &format!("{begin}{{\"phase\":\"fsck\",\"at_"));
        let turn = Turn::take(run.path()).unwrap();
        let recovered = recover(run.path(), &config(), &turn).unwrap();
        assert_eq!(recovered, [Recovered { cell: cut, done: vec![], left: vec![] }]);
        assert!(recover(run.path(), &config(), &turn).unwrap().is_empty());
    }
}
