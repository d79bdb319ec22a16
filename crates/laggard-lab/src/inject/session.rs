//! A controller at work: a journal, and a guard over it, for as long as it injects faults.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::deed::Deed;
use super::doing::{self, ATTEMPTS};
use super::guard::Guard;
use super::journal::{Event, Journal};
use super::node::{Exec, Node};
use super::refusal;
use crate::machine::LabError;

/// Faults can be injected only through one of these. One that is dropped, or whose process is killed, is undone by its
/// guard; [`close`](Session::close) ends it in good order.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
    journal: Journal,
    guard: Guard,
    /// Guards on other machines, by where they are reached.
    elsewhere: BTreeMap<String, Guard>,
}

impl Session {
    /// Opens a journal and starts a guard: a command that ends in `laggard guard`. Refuses where something stands that
    /// nobody watches.
    pub fn open(folder: &Path, mut guard: Command) -> Result<Session, LabError> {
        refuse_orphans(folder)?;
        let journal = Journal::create(folder)?;
        let guard = guard.arg("--folder").arg(folder).arg("--journal").arg(journal.path()).current_dir("/");
        let started = Guard::start(guard, "the guard", &journal.beside("log"));
        let guard = started.inspect_err(|_| drop(journal.remove()))?;
        Ok(Session { folder: folder.into(), journal, guard, elsewhere: BTreeMap::new() })
    }

    /// Applies a deed to all of its nodes and verifies it, or undoes it.
    pub fn apply(&mut self, deed: &Deed) -> Result<(), LabError> {
        if !self.guard.is_alive() {
            return Err(LabError::Refused("the guard has ended: nothing is injected without one".into()));
        }
        let all = doing::standing(&self.folder)?;
        if all.iter().any(|(standing, _)| standing.deed.id == deed.id) {
            let id = &deed.id;
            return Err(LabError::Refused(format!(
                "{id} stands already: `laggard inject undo {id}`, or choose another seed"
            )));
        }
        refusal::check_beside(deed, all.iter().map(|(standing, _)| &standing.deed))?;
        self.tell_elsewhere(deed)?;
        doing::apply(&self.journal, deed)
    }

    /// Undoes a deed and verifies that nothing is left of it.
    pub fn undo(&mut self, id: &str) -> Result<(), LabError> {
        let findings = doing::undo_some(&self.journal, &|standing| standing.deed.id == id, ATTEMPTS)?;
        match findings.into_iter().find_map(|finding| finding.complaint) {
            Some(why) => Err(LabError::Input(format!("{id} is not undone: {why}"))),
            None => self.tell_undone(id),
        }
    }

    /// Undoes whatever stands, the last first; what could not be undone is told, and the rest is.
    pub fn undo_all(&mut self) -> Result<(), LabError> {
        let ids: Vec<String> = self.journal.standing()?.into_iter().rev().map(|deed| deed.deed.id).collect();
        let outcomes: Vec<_> = ids.iter().map(|id| self.undo(id)).collect();
        outcomes.into_iter().collect()
    }

    /// Ends it, undoing what still stands.
    pub fn close(mut self) -> Result<(), LabError> {
        self.undo_all()?;
        self.elsewhere.into_values().try_for_each(Guard::dismiss)?;
        self.guard.dismiss()
    }

    /// Ends it, and leaves what stands to its guard until its time is over.
    pub fn leave(self) -> Result<(), LabError> {
        self.elsewhere.into_values().try_for_each(Guard::leave)?;
        self.guard.leave()
    }

    /// A node on another machine has a guard there: a fault that cuts it off must not keep it from being healed.
    fn tell_elsewhere(&mut self, deed: &Deed) -> Result<(), LabError> {
        let log = self.journal.beside("log");
        for (to, own) in by_machine(deed) {
            let guard = match self.elsewhere.entry(to) {
                Entry::Occupied(there) => there.into_mut(),
                Entry::Vacant(empty) => {
                    let guard = guard_at(deed, empty.key(), &log)?;
                    empty.insert(guard)
                }
            };
            guard.tell(&Event::Intent { deed: Box::new(own), marks: BTreeMap::new() })?;
        }
        Ok(())
    }

    fn tell_undone(&mut self, id: &str) -> Result<(), LabError> {
        let deeds = self.journal.deeds()?;
        let Some(standing) = deeds.into_iter().find(|standing| standing.deed.id == id) else { return Ok(()) };
        for (to, own) in by_machine(&standing.deed) {
            let Some(guard) = self.elsewhere.get_mut(&to) else { continue };
            for node in own.nodes() {
                guard.tell(&Event::Verified { id: id.into(), node: node.into() })?;
            }
        }
        Ok(())
    }
}

/// Fails where something stands that nobody watches.
pub fn refuse_orphans(folder: &Path) -> Result<(), LabError> {
    let all = doing::standing(folder)?;
    match all.iter().find(|(_, is_guarded)| !is_guarded) {
        None => Ok(()),
        Some((orphan, _)) => Err(LabError::Refused(format!(
            "{} at {} was never undone ({}): run `laggard inject recover`",
            orphan.deed.model.name(),
            orphan.deed.nodes().join(", "),
            orphan.deed.id
        ))),
    }
}

/// The parts of a deed on each other machine, as that machine sees them.
fn by_machine(deed: &Deed) -> BTreeMap<String, Deed> {
    let mut machines: BTreeMap<String, Deed> = BTreeMap::new();
    for part in &deed.parts {
        let Exec::Ssh(to) = &part.node.exec else { continue };
        let mut own = part.clone();
        own.node.exec = Exec::Local;
        let empty = Deed { parts: vec![], ..deed.clone() };
        machines.entry(to.clone()).or_insert(empty).parts.push(own);
    }
    machines
}

fn guard_at(deed: &Deed, to: &str, log: &Path) -> Result<Guard, LabError> {
    let is_there = |node: &&Node| matches!(&node.exec, Exec::Ssh(other) if other == to);
    let node = deed.parts.iter().map(|part| &part.node).find(is_there);
    let node = node.ok_or_else(|| LabError::Input(format!("no node is reached by {to}")))?;
    let keep = node.keep.parent().unwrap_or(&node.keep).display().to_string();
    let mut command = node.command(&["laggard", "guard", "--folder", &keep])?;
    Guard::start(&mut command, &format!("the guard on {to}"), log).map_err(|error| {
        LabError::Lacking(format!(
            "{error}: it needs root and this laggard in the PATH there; copy it to {to}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::testing::deed;

    #[test]
    fn another_machine_is_told_of_its_own_parts_and_nothing_else() {
        let mut hurt = deed("a");
        hurt.parts.push(hurt.parts[0].clone());
        hurt.parts[1].node.exec = Exec::Ssh("s2".into());
        let told = by_machine(&hurt);
        assert_eq!(told.keys().collect::<Vec<_>>(), ["s2"]);
        assert_eq!((told["s2"].parts.len(), &told["s2"].parts[0].node.exec), (1, &Exec::Local));
    }

    #[test]
    fn nothing_new_begins_while_something_stands_that_nobody_watches() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path()).unwrap();
        doing::apply(&journal, &deed("a")).unwrap();
        let error = Session::open(folder.path(), Command::new("false")).unwrap_err().to_string();
        assert_eq!(error, "refused: full at here was never undone (a): run `laggard inject recover`");
    }

    #[test]
    fn without_a_guard_there_is_no_session() {
        let folder = tempfile::tempdir().unwrap();
        let error = Session::open(folder.path(), Command::new("false")).unwrap_err().to_string();
        assert!(error.starts_with("`the guard` failed: it said \"\", not ready"), "{error}");
        assert!(Journal::all(folder.path()).is_empty());
    }
}
