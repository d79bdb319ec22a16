//! Applies deeds and undoes them, with the journal a step ahead.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::apart;
use super::deed::{Deed, LabStep, Part, Step};
use super::guard;
use super::journal::{Event, Journal, Phase, Standing};
use super::node::{Exec, Node};
use super::running::quoted;
use crate::disks::control::{self, Order};
use crate::faults::Fault;
use crate::lab::Lab;
use crate::machine::LabError;

/// How long a script may take; one that waits for a dead disk does so for ever.
const LIMIT: Duration = Duration::from_secs(120);

/// Which deeds to undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a> {
    /// The one of that name.
    Id(&'a str),
    /// All, also those that a guard watches.
    All,
    /// Those that nobody watches: their controller and its guard have been killed, or the machine was.
    Orphans,
}

/// A deed that was undone, or could not be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its name; of a journal that cannot be read, its path.
    pub id: String,
    /// What it was.
    pub model: String,
    /// Where.
    pub nodes: Vec<String>,
    /// Why it is not undone.
    pub complaint: Option<String>,
}

/// Everything that stands, with whether a guard watches it, the oldest first.
pub fn standing(folder: &Path) -> Result<Vec<(Standing, bool)>, LabError> {
    let mut all = vec![];
    for journal in Journal::all(folder) {
        let is_guarded = guard::watches(&journal);
        all.extend(journal.standing()?.into_iter().map(|deed| (deed, is_guarded)));
    }
    Ok(all)
}

/// Undoes what stands, the last first; what became of each. One that fails does not keep the others.
pub fn undo(folder: &Path, which: Which) -> Result<Vec<Finding>, LabError> {
    apart::sweep();
    let mut findings = vec![];
    for journal in Journal::all(folder).into_iter().rev() {
        let is_guarded = guard::watches(&journal);
        if which == Which::Orphans && is_guarded {
            continue;
        }
        let is_meant = |deed: &Standing| !matches!(which, Which::Id(id) if deed.deed.id != id);
        let before = journal.standing().unwrap_or_default();
        match undo_some(&journal, &is_meant, ATTEMPTS) {
            Ok(some) => {
                some.iter().filter(|finding| finding.complaint.is_none()).for_each(|finding| {
                    before.iter().filter(|deed| deed.deed.id == finding.id).for_each(tell_elsewhere);
                });
                findings.extend(some);
            }
            Err(error) => findings.push(Finding::unread(&journal, &error)),
        }
        // A guard removes its own journal.
        if !is_guarded && (!journal.deeds().unwrap_or_default().is_empty() || journal.is_forsaken()) {
            journal.remove()?;
        }
    }
    match which {
        Which::Id(id) if findings.is_empty() => Err(LabError::Input(format!(
            "no fault {id:?} stands: `laggard inject status` lists those that do"
        ))),
        _ => Ok(findings),
    }
}

/// Guards on other machines know nothing of it yet, and would undo it once more when its time is over: no harm, unless
/// the same has been done again by then. Where none can be told, that is so.
fn tell_elsewhere(standing: &Standing) {
    for part in standing.deed.parts.iter().filter(|part| matches!(part.node.exec, Exec::Ssh(_))) {
        let folder = part.node.keep.parent().unwrap_or(&part.node.keep).display().to_string();
        let words = ["laggard", "inject", "--undo-folder", &quoted(&folder), "undo", &standing.deed.id];
        let _ = part.node.run(&words.join(" "), LIMIT);
    }
}

/// As often as one who waits for it would try.
pub(super) const ATTEMPTS: u32 = 4;

/// Undoes some deeds of a journal, the last first.
pub(super) fn undo_some(
    journal: &Journal,
    is_meant: &dyn Fn(&Standing) -> bool,
    attempts: u32,
) -> Result<Vec<Finding>, LabError> {
    let _turn = journal.turn()?;
    let meant = journal.standing()?.into_iter().rev().filter(is_meant);
    Ok(meant.map(|deed| Finding::of(&deed, undo_deed(journal, &deed, attempts).err())).collect())
}

/// Writes a deed down, then applies it on every node, then verifies it. If anything fails, all of it is undone.
pub(super) fn apply(journal: &Journal, deed: &Deed) -> Result<(), LabError> {
    let outcome = {
        let _turn = journal.turn()?;
        journal.write(Event::Intent { deed: Box::new(deed.clone()), marks: marks(deed)? })?;
        hit(journal, deed)
    };
    let Err(error) = outcome else { return Ok(()) };
    let findings = undo_some(journal, &|standing| standing.deed.id == deed.id, ATTEMPTS)?;
    match findings.into_iter().find_map(|finding| finding.complaint) {
        None => Err(LabError::Input(format!("{error}; what was done so far is undone"))),
        Some(why) => Err(LabError::Input(format!(
            "{error}; and it could not be undone: {why}: run `laggard inject recover`"
        ))),
    }
}

fn hit(journal: &Journal, deed: &Deed) -> Result<(), LabError> {
    for part in &deed.parts {
        perform(&part.node, &part.apply)?;
        journal.write(Event::Applied { id: deed.id.clone(), node: part.node.name.clone() })?;
    }
    let verified = |part: &Part| {
        perform(&part.node, &part.verify_applied).map_err(|error| {
            LabError::Input(format!("{} has no effect on {}: {error}", deed.model.name(), part.node.name))
        })
    };
    deed.parts.iter().try_for_each(verified)
}

/// The labs that the nodes of a deed are in, by their marks.
fn marks(deed: &Deed) -> Result<BTreeMap<String, String>, LabError> {
    let mut marks = BTreeMap::new();
    for part in &deed.parts {
        if let Some((lab, _)) = part.node.lab()? {
            marks.insert(part.node.name.clone(), lab.manifest.mark);
        }
    }
    Ok(marks)
}

/// Every part is tried; the first failure is told. All are undone before the first is verified: a file system that
/// spans them is well only then.
fn undo_deed(journal: &Journal, standing: &Standing, attempts: u32) -> Result<(), LabError> {
    let is_left = |part: &&Part| standing.phases.get(&part.node.name) != Some(&Phase::Verified);
    let mut left: Vec<&Part> = standing.deed.parts.iter().rev().filter(is_left).collect();
    with_patience(attempts, || {
        let undone: Vec<_> = left.iter().map(|part| undo_part(journal, standing, part)).collect();
        let mut outcome = Ok(());
        for (part, undone) in std::mem::take(&mut left).into_iter().zip(undone) {
            let verified = undone.and_then(|is_gone| verify_part(journal, standing, part, is_gone));
            if verified.is_err() {
                left.push(part);
            }
            outcome = outcome.and(verified);
        }
        outcome
    })
}

/// Whether there is nothing left to undo.
fn undo_part(journal: &Journal, standing: &Standing, part: &Part) -> Result<bool, LabError> {
    if went_with_its_lab(standing, &part.node) {
        return Ok(true);
    }
    perform(&part.node, &part.undo)?;
    journal.write(Event::Undone { id: standing.deed.id.clone(), node: part.node.name.clone() })?;
    Ok(false)
}

fn verify_part(journal: &Journal, standing: &Standing, part: &Part, is_gone: bool) -> Result<(), LabError> {
    if !is_gone {
        perform(&part.node, &part.verify_undone)?;
        part.tidy.as_ref().map_or(Ok(()), |tidy| perform(&part.node, tidy))?;
    }
    journal.write(Event::Verified { id: standing.deed.id.clone(), node: part.node.name.clone() })
}

/// Tries again after a while, twice as long each time.
fn with_patience(attempts: u32, mut once: impl FnMut() -> Result<(), LabError>) -> Result<(), LabError> {
    let mut pause = Duration::from_millis(250);
    for _ in 1..attempts {
        if once().is_ok() {
            return Ok(());
        }
        std::thread::sleep(pause);
        pause *= 2;
    }
    once()
}

/// Whatever hurts a host of a lab is in its namespaces: it is gone when the lab is, or is another one of the same name.
fn went_with_its_lab(standing: &Standing, node: &Node) -> bool {
    let Exec::Lab { lab, .. } = &node.exec else { return false };
    if !crate::manifest::folder(lab).exists() {
        return true;
    }
    let mark = standing.marks.get(&node.name);
    Lab::open(lab).is_ok_and(|lab| mark.is_some_and(|mark| *mark != lab.manifest.mark))
}

fn perform(node: &Node, step: &Step) -> Result<(), LabError> {
    match step {
        Step::Shell(script) => node.change(script, LIMIT),
        Step::Long { script, seconds } => node.change(script, Duration::from_secs(*seconds)),
        Step::Several(steps) => steps.iter().try_for_each(|step| perform(node, step)),
        Step::Where { holds, steps } => match node.run(holds, LIMIT)?.is_well() {
            true => steps.iter().try_for_each(|step| perform(node, step)),
            false => Ok(()),
        },
        Step::Lab(step) => {
            let outside = || LabError::Input(format!("{} is no host of a lab", node.name));
            let (lab, host) = node.lab()?.ok_or_else(outside)?;
            perform_in_lab(&lab, host, step)
        }
    }
}

fn perform_in_lab(lab: &Lab, host: &str, step: &LabStep) -> Result<(), LabError> {
    match step {
        LabStep::Apply(fault) => Fault::named(fault)?.apply(lab, host),
        LabStep::Heal(fault) => Fault::named(fault)?.heal(lab, host),
        LabStep::IsThere(fault) => Fault::named(fault)?.verify(lab, host, true),
        LabStep::IsGone(fault) => Fault::named(fault)?.verify(lab, host, false),
        LabStep::Afflict(trouble) => {
            let order = Order::Afflict(trouble.clone());
            control::ask(&lab.socket(host), &order).map(drop).map_err(LabError::from)
        }
        LabStep::HasTrouble(trouble) => {
            let found = control::ask(&lab.socket(host), &Order::Tell)?.trouble;
            let told = || LabError::Input(format!("the disk of {host} has {found:?}"));
            (found == *trouble).then_some(()).ok_or_else(told)
        }
        LabStep::DiskFails => disk_fails(lab, host),
        LabStep::RecoverDisk => lab.recover_disk(host),
        LabStep::EndDaemons => lab.end_daemons(host),
        LabStep::StartDaemons => lab.start_daemons(host),
        LabStep::IsWell => lab.become_well(),
    }
}

/// Past all caches, and past the brick's file system, which would shut itself down on an error that it sees.
fn disk_fails(lab: &Lab, host: &str) -> Result<(), LabError> {
    let device = lab.device(host).ok_or_else(|| LabError::Input(format!("{host} has no disk")))?;
    let input = format!("if=/dev/{device}");
    match lab.host_place(host)?.run(&["dd", &input, "of=/dev/null", "count=1", "iflag=direct"]) {
        Err(LabError::Program { told, .. }) if told.contains("Input/output error") => Ok(()),
        Err(other) => Err(other),
        Ok(_) => Err(LabError::Input(format!("the disk of {host} can still be read"))),
    }
}

impl Finding {
    fn of(standing: &Standing, error: Option<LabError>) -> Finding {
        Finding {
            id: standing.deed.id.clone(),
            model: standing.deed.model.name().into(),
            nodes: standing.deed.nodes().into_iter().map(str::to_owned).collect(),
            complaint: error.map(|error| error.to_string()),
        }
    }

    fn unread(journal: &Journal, error: &LabError) -> Finding {
        Finding {
            id: journal.path().display().to_string(),
            model: String::new(),
            nodes: vec![],
            complaint: Some(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::testing::{deed, shell};

    /// A deed that makes a file in a folder, and one that fails halfway.
    fn making(id: &str, folder: &Path, and_then: &str) -> Deed {
        let file = folder.join(id).display().to_string();
        let mut deed = deed(id);
        deed.parts[0].apply = shell(&format!("touch {file}{and_then}"));
        deed.parts[0].verify_applied = shell(&format!("[ -e {file} ]"));
        deed.parts[0].undo = shell(&format!("echo {id} >> {}; rm -f {file}", folder.join("order").display()));
        deed.parts[0].verify_undone = shell(&format!("[ ! -e {file} ]"));
        deed
    }

    #[test]
    fn what_was_applied_is_undone_in_reverse_and_its_journal_goes() {
        let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let journal = Journal::create(folder.path()).unwrap();
        for id in ["a", "b", "c"] {
            apply(&journal, &making(id, scratch.path(), "")).unwrap();
        }
        assert_eq!(undo(folder.path(), Which::Id("b")).unwrap()[0].complaint, None);
        assert_eq!(standing(folder.path()).unwrap().len(), 2);
        let ids: Vec<String> =
            undo(folder.path(), Which::Orphans).unwrap().into_iter().map(|f| f.id).collect();
        assert_eq!(ids, ["c", "a"]);
        assert_eq!(std::fs::read_to_string(scratch.path().join("order")).unwrap(), "b\nc\na\n");
        assert!(Journal::all(folder.path()).is_empty());
        assert!(
            undo(folder.path(), Which::Id("b")).unwrap_err().to_string().contains("no fault \"b\" stands")
        );
    }

    #[test]
    fn all_parts_are_undone_before_the_first_is_verified() {
        let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let journal = Journal::create(folder.path()).unwrap();
        // As two servers of one file system, which is well when both are.
        let [mut one, mut other] = ["a", "b"].map(|id| making(id, scratch.path(), "").parts.remove(0));
        let both = shell(&format!("cd {}; [ ! -e a ] && [ ! -e b ]", scratch.path().display()));
        (one.verify_undone, other.verify_undone) = (both.clone(), both);
        other.node.name = "there".into();
        let hurt = Deed { parts: vec![one, other], ..deed("a") };
        apply(&journal, &hurt).unwrap();
        assert_eq!(undo_some(&journal, &|_| true, 1).unwrap()[0].complaint, None);
        assert_eq!(std::fs::read_to_string(scratch.path().join("order")).unwrap(), "b\na\n");
    }

    #[test]
    fn what_fails_halfway_is_undone_at_once() {
        let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let journal = Journal::create(folder.path()).unwrap();
        let error = apply(&journal, &making("a", scratch.path(), "; echo no >&2; false")).unwrap_err();
        assert!(error.to_string().ends_with("failed: no; what was done so far is undone"), "{error}");
        assert!(!scratch.path().join("a").exists() && journal.standing().unwrap().is_empty());
    }

    #[test]
    fn what_has_no_effect_is_an_error_and_what_cannot_be_undone_is_told_and_stays() {
        let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let journal = Journal::create(folder.path()).unwrap();
        let mut vain = making("a", scratch.path(), "");
        vain.parts[0].verify_applied = shell("false");
        vain.parts[0].verify_undone = shell("echo still there >&2; false");
        let error = apply(&journal, &vain).unwrap_err().to_string();
        assert!(error.contains("full has no effect on here") && error.contains("still there"), "{error}");
        assert_eq!(standing(folder.path()).unwrap()[0].0.phases["here"], Phase::Undone);
    }
}
