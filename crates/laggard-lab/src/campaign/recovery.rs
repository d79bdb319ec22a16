//! Removes what a killed controller has left of a case, by the journal it wrote before it did anything.
//! Always: only what provably belongs to that case is touched; labs and faults of others are left alone.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::config::Config;
use crate::inject;
use crate::lab_manifest::{self, Manifest};
use crate::machine::LabError;
use crate::machine::cgroup::{self, ScopedCgroup};
use crate::machine::snapshot::Snapshot;
use crate::runner::files::{JsonLines, now_ns};
use crate::runner::journal::{CaseJournal, JOURNAL, Unfinished};
use crate::runner::phase::Phase;
use crate::setup;
use crate::undo::{self, Journal, Selection};

/// Held while a run continues or is recovered; ends with the process.
#[derive(Debug)]
pub struct RunLock(#[allow(dead_code, reason = "closing it gives the lock back")] File);

impl RunLock {
    pub fn take(run: &Path) -> Result<RunLock, LabError> {
        let file = File::open(run).map_err(LabError::at(run))?;
        match file.try_lock() {
            Ok(()) => Ok(RunLock(file)),
            Err(_) => Err(LabError::Refused(format!(
                "{}: another laggard process uses this run: wait for it, or end it",
                run.display()
            ))),
        }
    }
}

/// The clean-up after a case that was cut short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanUp {
    /// The folder of the case.
    pub case: PathBuf,
    /// Removals and reverts.
    pub done: Vec<String>,
    /// Differences from the machine before the case, and faults that could not be reverted.
    pub left: Vec<String>,
}

/// Subfolders of a case that hold many files, and no case.
const NO_CASES: [&str; 3] = ["logs", "steps", "recorded"];

/// A guard that has nothing to do ends within this time.
const GUARD_END: Duration = Duration::from_secs(3);

/// Removes what is left of all cases of a run that were cut short. The caller holds the run's [`RunLock`].
pub fn recover(run: &Path, config: &Config, _lock: &RunLock) -> Result<Vec<CleanUp>, LabError> {
    let unfinished = |folder: PathBuf| CaseJournal::unfinished(&folder).map(|case| (folder, case));
    let cut_short = cases(&run.join("case")).into_iter().filter_map(unfinished);
    cut_short.map(|(folder, case)| recover_case(&folder, config, &case)).collect()
}

/// The folders of all cases that have begun, also of replays.
fn cases(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    if folder.join(JOURNAL).is_file() {
        found.push(folder.to_owned());
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let holds_cases = |path: &PathBuf| {
        path.is_dir() && !path.file_name().is_some_and(|name| NO_CASES.iter().any(|no| name == *no))
    };
    let mut folders: Vec<PathBuf> = entries.filter(holds_cases).collect();
    folders.sort();
    found.extend(folders.iter().flat_map(|folder| cases(folder)));
    found
}

fn recover_case(folder: &Path, config: &Config, case: &Unfinished) -> Result<CleanUp, LabError> {
    let mut recovered = CleanUp { case: folder.to_owned(), done: vec![], left: vec![] };
    if let Some(id) = fault_id(folder) {
        recovered.revert(&id, config.steps.timeouts.revert)?;
    }
    // A process id may be reused: what belongs to another campaign that runs is left alone.
    if let Some(controller) = case.controller.filter(|number| !is_running(*number)) {
        for group in ScopedCgroup::left_by(controller) {
            group.kill()?;
            recovered.done.push("processes of a step were ended".into());
        }
        let lab = config.steps.system.new_lab().map(|lab| lab.name.as_str());
        if let Some(name) = lab.filter(|name| is_of(name, controller, case.since_ns)) {
            setup::down(name)?;
            recovered.done.push(format!("the lab {name} was removed"));
        }
        remove_journals(controller);
        wait_for_guards();
    }
    if let Some(before) = Snapshot::read(&folder.join("before.json")) {
        recovered.left.extend(before.difference(&Snapshot::take()));
    }
    let word = if recovered.left.is_empty() { "recovered" } else { "DIRTY" };
    let line = json!({ "phase": Phase::Teardown, "at_ns": now_ns(), "what": word, "left": recovered.left });
    JsonLines::open(&folder.join(JOURNAL))?.add(&line)?;
    Ok(recovered)
}

/// A guard without faults ends soon, with its control group; that of a killed guard is removed. One that stays belongs
/// to another process.
fn wait_for_guards() {
    let begin = Instant::now();
    while cgroup::remove_abandoned_guards() && begin.elapsed() < GUARD_END {
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The id of a case's fault, which is on disk before it is applied.
fn fault_id(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join("fault.json")).ok()?;
    let fault: Value = serde_json::from_str(&text).ok()?;
    fault["id"].as_str().map(str::to_owned)
}

impl CleanUp {
    pub fn describe(&self, run: &Path) -> String {
        let case = self.case.strip_prefix(run.join("case")).unwrap_or(&self.case).display();
        let done = if self.done.is_empty() { "nothing was left".to_owned() } else { self.done.join(", ") };
        let left = if self.left.is_empty() {
            String::new()
        } else {
            format!("; left behind: {}", self.left.join("; "))
        };
        format!("{case} was cut short: {done}{left}")
    }

    /// Lets the guard finish, if it runs; otherwise reverts the fault.
    fn revert(&mut self, id: &str, longest: Duration) -> Result<(), LabError> {
        let (begin, folder) = (Instant::now(), Path::new(inject::FOLDER));
        loop {
            let all = undo::active_faults(folder)?;
            match all.iter().find(|(fault, _)| fault.planned.id == id) {
                None => return Ok(()),
                Some((_, true)) if begin.elapsed() < longest => {
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

/// A process of that id runs a campaign. The one that ran this campaign has ended, or it would hold the lock.
fn is_running(process: u32) -> bool {
    let words = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
    process != std::process::id() && words.split('\0').any(|word| word == "campaign")
}

/// The controller built the lab after that time.
fn is_of(name: &str, controller: u32, since_ns: u64) -> bool {
    let folder = lab_manifest::folder(name);
    match Manifest::read(&folder) {
        Ok(manifest) => setup::made(&manifest.mark, name).is_some_and(|(micros, process)| {
            process == controller && micros.saturating_mul(1000) >= since_ns
        }),
        // Killed before the lab had a manifest.
        Err(_) => folder.is_dir() && !folder.join("manifest.toml").exists(),
    }
}

/// Removes journals of a controller that was killed before it wrote a fault.
fn remove_journals(controller: u32) {
    let ending = format!("-{controller:x}");
    let is_its = |journal: &Journal| {
        journal.path().file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(&ending))
    };
    for journal in Journal::all(Path::new(inject::FOLDER)).into_iter().filter(is_its) {
        let is_empty = journal.faults().is_ok_and(|faults| faults.is_empty());
        if is_empty && !journal.is_guarded() {
            for ending in ["jsonl", "lock", "guard"] {
                // Some of them never existed.
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
    fn only_one_process_uses_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let lock = RunLock::take(folder.path()).unwrap();
        let error = RunLock::take(folder.path()).unwrap_err().to_string();
        assert!(error.contains("another laggard process uses this run"), "{error}");
        drop(lock);
        assert!(RunLock::take(folder.path()).is_ok());
    }

    #[test]
    fn finished_cases_are_left_alone_and_others_are_recovered_once() {
        let run = tempfile::tempdir().unwrap();
        let case = |name: &str, lines: &str| {
            let folder = run.path().join("case").join(name);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(JOURNAL), lines).unwrap();
            folder
        };
        let begin = "{\"phase\":\"preflight\",\"at_ns\":1,\"what\":{\"controller\":4194999}}\n";
        case("a/ONE/1", &format!("{begin}{{\"phase\":\"teardown\",\"at_ns\":2,\"what\":\"CLEAN\"}}\n"));
        let cut = case("a/ONE/2", &format!("{begin}{{\"phase\":\"fsck\",\"at_"));
        let lock = RunLock::take(run.path()).unwrap();
        let recovered = recover(run.path(), &config(), &lock).unwrap();
        assert_eq!(recovered, [CleanUp { case: cut, done: vec![], left: vec![] }]);
        assert!(recover(run.path(), &config(), &lock).unwrap().is_empty());
    }
}
