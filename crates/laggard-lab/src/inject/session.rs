//! A journal and its guard, for as long as a controller injects faults.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::refusal;
use crate::faults::PlannedFault;
use crate::machine::LabError;
use crate::nodes::{Exec, Node};
use crate::undo::{self, ATTEMPTS, Event, Guard, Journal};

/// Faults are injected through a session. If it is dropped or its process is killed, its guard reverts them;
/// [`close`](Session::close) reverts them and ends the guard.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    journal: Journal,
    guard: Guard,
    /// Guards on other machines, by ssh destination.
    remote_guards: BTreeMap<String, Guard>,
}

impl Session {
    /// Opens a journal and starts a guard: a command that ends in `laggard guard`. Refuses while a fault without a guard is
    /// active.
    pub fn open(folder: &Path, mut guard: Command) -> Result<Session, LabError> {
        refuse_orphans(folder)?;
        let journal = Journal::create(folder)?;
        let guard = guard.arg("--folder").arg(folder).arg("--journal").arg(journal.path()).current_dir("/");
        let started = Guard::start(guard, "the guard", &journal.beside("log"));
        let guard = started.inspect_err(|_| drop(journal.remove()))?;
        Ok(Session { folder: folder.into(), journal, guard, remote_guards: BTreeMap::new() })
    }

    /// Applies a fault to all of its nodes and verifies it, or reverts it.
    pub fn apply(&mut self, fault: &PlannedFault) -> Result<(), LabError> {
        if !self.guard.is_alive() {
            return Err(LabError::Refused("the guard has ended: no fault is injected without one".into()));
        }
        let all = undo::active_faults(&self.folder)?;
        if all.iter().any(|(active, _)| active.planned.id == fault.id) {
            let id = &fault.id;
            return Err(LabError::Refused(format!(
                "{id} is active already: run `laggard inject undo {id}`, or choose another seed"
            )));
        }
        refusal::check_beside(fault, all.iter().map(|(active, _)| &active.planned))?;
        self.record_remotely(fault)?;
        undo::apply(&self.journal, fault)
    }

    /// Reverts a fault and verifies that nothing is left of it.
    pub fn revert(&mut self, id: &str) -> Result<(), LabError> {
        let outcomes = undo::revert_some(&self.journal, &|active| active.planned.id == id, ATTEMPTS)?;
        match outcomes.into_iter().find_map(|outcome| outcome.error) {
            Some(why) => Err(LabError::Input(format!("{id} is not reverted: {why}"))),
            None => self.record_reverted(id),
        }
    }

    /// Reverts all active faults, the last first; returns the first error after trying all.
    fn revert_all(&mut self) -> Result<(), LabError> {
        let ids: Vec<String> =
            self.journal.active()?.into_iter().rev().map(|active| active.planned.id).collect();
        let outcomes: Vec<_> = ids.iter().map(|id| self.revert(id)).collect();
        outcomes.into_iter().collect()
    }

    /// Reverts all active faults and ends the guard.
    pub fn close(mut self) -> Result<(), LabError> {
        self.revert_all()?;
        self.remote_guards.into_values().try_for_each(Guard::dismiss)?;
        self.guard.dismiss()
    }

    /// Leaves the active faults to the guard until their time is over.
    pub fn leave(self) -> Result<(), LabError> {
        self.remote_guards.into_values().try_for_each(Guard::leave)?;
        self.guard.leave()
    }

    /// A node on another machine has a guard there: a fault that cuts it off must not prevent its own revert.
    fn record_remotely(&mut self, fault: &PlannedFault) -> Result<(), LabError> {
        let log = self.journal.beside("log");
        for (to, own) in by_machine(fault) {
            let guard = match self.remote_guards.entry(to) {
                Entry::Occupied(running) => running.into_mut(),
                Entry::Vacant(empty) => {
                    let guard = guard_at(fault, empty.key(), &log)?;
                    empty.insert(guard)
                }
            };
            guard.record(&Event::Intent { fault: Box::new(own), marks: BTreeMap::new() })?;
        }
        Ok(())
    }

    fn record_reverted(&mut self, id: &str) -> Result<(), LabError> {
        let faults = self.journal.faults()?;
        let Some(fault) = faults.into_iter().find(|fault| fault.planned.id == id) else { return Ok(()) };
        for (to, own) in by_machine(&fault.planned) {
            let Some(guard) = self.remote_guards.get_mut(&to) else { continue };
            for node in own.nodes() {
                guard.record(&Event::Verified { id: id.into(), node: node.into() })?;
            }
        }
        Ok(())
    }
}

/// Fails while a fault without a guard is active.
pub fn refuse_orphans(folder: &Path) -> Result<(), LabError> {
    let all = undo::active_faults(folder)?;
    match all.iter().find(|(_, is_guarded)| !is_guarded) {
        None => Ok(()),
        Some((orphan, _)) => Err(LabError::Refused(format!(
            "{} at {} was never reverted ({}): run `laggard inject recover`",
            orphan.planned.fault.name(),
            orphan.planned.nodes().join(", "),
            orphan.planned.id
        ))),
    }
}

/// The steps of a fault on each other machine, as that machine sees them.
fn by_machine(fault: &PlannedFault) -> BTreeMap<String, PlannedFault> {
    let mut machines: BTreeMap<String, PlannedFault> = BTreeMap::new();
    for steps in &fault.steps {
        let Exec::Ssh(to) = &steps.node.exec else { continue };
        let mut own = steps.clone();
        own.node.exec = Exec::Local;
        let empty = PlannedFault { steps: vec![], ..fault.clone() };
        machines.entry(to.clone()).or_insert(empty).steps.push(own);
    }
    machines
}

fn guard_at(fault: &PlannedFault, to: &str, log: &Path) -> Result<Guard, LabError> {
    let is_there = |node: &&Node| matches!(&node.exec, Exec::Ssh(other) if other == to);
    let node = fault.steps.iter().map(|steps| &steps.node).find(is_there);
    let node = node.ok_or_else(|| LabError::Input(format!("no node has the ssh destination {to}")))?;
    let keep = node.keep.parent().unwrap_or(&node.keep).display().to_string();
    let mut command = node.command(&["laggard", "guard", "--folder", &keep])?;
    Guard::start(&mut command, &format!("the guard on {to}"), log).map_err(|error| {
        LabError::Lacking(format!("{error}: {to} needs this version of laggard in its PATH, and root access"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::planned;

    #[test]
    fn another_machine_gets_only_its_own_steps() {
        let mut fault = planned("a");
        fault.steps.push(fault.steps[0].clone());
        fault.steps[1].node.exec = Exec::Ssh("s2".into());
        let machines = by_machine(&fault);
        assert_eq!(machines.keys().collect::<Vec<_>>(), ["s2"]);
        assert_eq!((machines["s2"].steps.len(), &machines["s2"].steps[0].node.exec), (1, &Exec::Local));
    }

    #[test]
    fn no_session_begins_while_a_fault_without_a_guard_is_active() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path()).unwrap();
        undo::apply(&journal, &planned("a")).unwrap();
        let error = Session::open(folder.path(), Command::new("false")).unwrap_err().to_string();
        assert_eq!(error, "refused: full at here was never reverted (a): run `laggard inject recover`");
    }

    #[test]
    fn without_a_guard_there_is_no_session() {
        let folder = tempfile::tempdir().unwrap();
        let error = Session::open(folder.path(), Command::new("false")).unwrap_err().to_string();
        assert!(error.starts_with("`the guard` failed: it answered \"\", expected ready"), "{error}");
        assert!(Journal::all(folder.path()).is_empty());
    }
}
