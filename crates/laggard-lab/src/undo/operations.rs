//! Applies planned faults and reverts them, with every step in the journal first.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::journal::{ActiveFault, Event, Journal, Phase};
use crate::disks::control::{self, Order};
use crate::faults::{Fault, LabStep, NodeSteps, PlannedFault, Step};
use crate::machine::{LabError, cgroup};
use crate::nodes::{Exec, Node, quoted};
use crate::setup::Lab;

/// The time limit of a script; one that waits for a dead disk never ends.
const LIMIT: Duration = Duration::from_secs(120);

/// The faults to revert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection<'a> {
    Id(&'a str),
    /// All, also those that a guard watches.
    All,
    /// Those without a guard: controller and guard were killed, or the machine was restarted.
    Orphans,
}

/// The result of reverting a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RevertOutcome {
    /// The fault's id; for a journal that cannot be read, its path.
    pub id: String,
    pub fault: String,
    pub nodes: Vec<String>,
    pub error: Option<String>,
}

/// All active faults, oldest first, each with true if a guard watches it.
pub fn active_faults(folder: &Path) -> Result<Vec<(ActiveFault, bool)>, LabError> {
    let mut all = vec![];
    for journal in Journal::all(folder) {
        let is_guarded = journal.is_guarded();
        all.extend(journal.active()?.into_iter().map(|fault| (fault, is_guarded)));
    }
    Ok(all)
}

/// Reverts active faults, the last first. One that fails does not prevent the others.
pub fn revert(folder: &Path, selection: Selection) -> Result<Vec<RevertOutcome>, LabError> {
    cgroup::remove_abandoned_guards();
    let mut outcomes = vec![];
    for journal in Journal::all(folder).into_iter().rev() {
        let is_guarded = journal.is_guarded();
        if selection == Selection::Orphans && is_guarded {
            continue;
        }
        let is_selected =
            |fault: &ActiveFault| !matches!(selection, Selection::Id(id) if fault.planned.id != id);
        let before = journal.active().unwrap_or_default();
        match revert_some(&journal, &is_selected, ATTEMPTS) {
            Ok(some) => {
                let is_reverted = |fault: &&ActiveFault| {
                    some.iter().any(|outcome| outcome.id == fault.planned.id && outcome.error.is_none())
                };
                before.iter().filter(is_reverted).for_each(inform_other_machines);
                outcomes.extend(some);
            }
            Err(error) => outcomes.push(RevertOutcome::unreadable(&journal, &error)),
        }
        // A guard removes its own journal.
        if !is_guarded && (!journal.faults().unwrap_or_default().is_empty() || journal.is_abandoned()) {
            journal.remove()?;
        }
    }
    match selection {
        Selection::Id(id) if outcomes.is_empty() => Err(LabError::Input(format!(
            "no fault {id:?} is active: `laggard inject status` lists the active ones"
        ))),
        _ => Ok(outcomes),
    }
}

/// Guards on other machines would revert the fault once more when its time is over, also if it has been applied again by
/// then. A machine that cannot be reached is not informed.
fn inform_other_machines(fault: &ActiveFault) {
    for steps in fault.planned.steps.iter().filter(|steps| matches!(steps.node.exec, Exec::Ssh(_))) {
        let folder = steps.node.keep.parent().unwrap_or(&steps.node.keep).display().to_string();
        let words = ["laggard", "inject", "--undo-folder", &quoted(&folder), "undo", &fault.planned.id];
        let _ = steps.node.run(&words.join(" "), LIMIT);
    }
}

/// The number of attempts to revert a fault while a caller waits.
pub(crate) const ATTEMPTS: u32 = 4;

/// Reverts selected faults of a journal, the last first.
pub(crate) fn revert_some(
    journal: &Journal,
    is_selected: &dyn Fn(&ActiveFault) -> bool,
    attempts: u32,
) -> Result<Vec<RevertOutcome>, LabError> {
    let _lock = journal.lock()?;
    let selected = journal.active()?.into_iter().rev().filter(is_selected);
    Ok(selected
        .map(|fault| RevertOutcome::of(&fault, revert_fault(journal, &fault, attempts).err()))
        .collect())
}

/// Records a fault, then applies it on every node, then verifies it. If anything fails, all of it is reverted.
pub(crate) fn apply(journal: &Journal, fault: &PlannedFault) -> Result<(), LabError> {
    let outcome = {
        let _lock = journal.lock()?;
        let intent = Event::Intent { fault: Box::new(fault.clone()), marks: marks(fault)? };
        record(journal, fault, intent).and_then(|()| apply_and_verify(journal, fault))
    };
    let Err(error) = outcome else { return Ok(()) };
    let outcomes = revert_some(journal, &|active| active.planned.id == fault.id, ATTEMPTS)?;
    match outcomes.into_iter().find_map(|outcome| outcome.error) {
        None => Err(LabError::Input(format!("{error}; the changes so far are reverted"))),
        Some(why) => Err(LabError::Input(format!(
            "{error}; and reverting failed: {why}: run `laggard inject recover`"
        ))),
    }
}

fn apply_and_verify(journal: &Journal, fault: &PlannedFault) -> Result<(), LabError> {
    for steps in &fault.steps {
        perform(fault, &steps.node, &steps.apply)?;
        let node = steps.node.name.clone();
        record(journal, fault, Event::Applied { id: fault.id.clone(), node })?;
    }
    let verified = |steps: &NodeSteps| {
        perform(fault, &steps.node, &steps.verify_applied).map_err(|error| {
            LabError::Input(format!("{} has no effect on {}: {error}", fault.fault.name(), steps.node.name))
        })
    };
    fault.steps.iter().try_for_each(verified)
}

/// Writes an event to the journal, and to those of the labs whose hosts are affected. A lab that was taken down has none.
fn record(journal: &Journal, fault: &PlannedFault, event: Event) -> Result<(), LabError> {
    journal.write(event.clone())?;
    let mut journals = vec![journal.clone()];
    for lab in fault.steps.iter().filter_map(|steps| steps.node.lab().ok().flatten()).map(|(lab, _)| lab) {
        let of_lab = Journal::of_lab(&lab)?;
        if !journals.contains(&of_lab) {
            of_lab.write(event.clone())?;
            journals.push(of_lab);
        }
    }
    Ok(())
}

/// The marks of the labs that the nodes of a fault are in.
fn marks(fault: &PlannedFault) -> Result<BTreeMap<String, String>, LabError> {
    let mut marks = BTreeMap::new();
    for steps in &fault.steps {
        if let Some((lab, _)) = steps.node.lab()? {
            marks.insert(steps.node.name.clone(), lab.manifest.mark);
        }
    }
    Ok(marks)
}

/// Tries every node, and returns the first error. All nodes are reverted before the first is verified: a file system that
/// spans them is healthy only then.
fn revert_fault(journal: &Journal, fault: &ActiveFault, attempts: u32) -> Result<(), LabError> {
    let is_left = |steps: &&NodeSteps| fault.phases.get(&steps.node.name) != Some(&Phase::Verified);
    let mut left: Vec<&NodeSteps> = fault.planned.steps.iter().rev().filter(is_left).collect();
    with_retries(attempts, || {
        let reverted: Vec<_> = left.iter().map(|steps| revert_node(journal, fault, steps)).collect();
        let mut outcome = Ok(());
        for (steps, reverted) in std::mem::take(&mut left).into_iter().zip(reverted) {
            let verified = reverted.and_then(|is_gone| verify_node(journal, fault, steps, is_gone));
            if verified.is_err() {
                left.push(steps);
            }
            outcome = outcome.and(verified);
        }
        outcome
    })
}

/// Returns true if the fault is gone with its lab.
fn revert_node(journal: &Journal, fault: &ActiveFault, steps: &NodeSteps) -> Result<bool, LabError> {
    if is_lab_gone(fault, &steps.node) {
        return Ok(true);
    }
    perform(&fault.planned, &steps.node, &steps.revert)?;
    let (id, node) = (fault.planned.id.clone(), steps.node.name.clone());
    record(journal, &fault.planned, Event::Reverted { id, node })?;
    Ok(false)
}

fn verify_node(
    journal: &Journal,
    fault: &ActiveFault,
    steps: &NodeSteps,
    is_gone: bool,
) -> Result<(), LabError> {
    if !is_gone {
        perform(&fault.planned, &steps.node, &steps.verify_reverted)?;
        steps.clean_up.as_ref().map_or(Ok(()), |step| perform(&fault.planned, &steps.node, step))?;
    }
    let (id, node) = (fault.planned.id.clone(), steps.node.name.clone());
    record(journal, &fault.planned, Event::Verified { id, node })
}

/// Tries again after a pause, which doubles each time.
fn with_retries(attempts: u32, mut once: impl FnMut() -> Result<(), LabError>) -> Result<(), LabError> {
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

/// A fault of a lab's host is in the host's namespaces: it is gone when the lab is, or is another lab of the same name.
fn is_lab_gone(fault: &ActiveFault, node: &Node) -> bool {
    let Exec::Lab { lab, .. } = &node.exec else { return false };
    if !crate::lab_manifest::folder(lab).exists() {
        return true;
    }
    let mark = fault.marks.get(&node.name);
    Lab::open(lab).is_ok_and(|lab| mark.is_some_and(|mark| *mark != lab.manifest.mark))
}

fn perform(fault: &PlannedFault, node: &Node, step: &Step) -> Result<(), LabError> {
    match step {
        Step::Shell(script) => node.change(script, LIMIT),
        Step::Long { script, seconds } => node.change(script, Duration::from_secs(*seconds)),
        Step::Several(steps) => steps.iter().try_for_each(|step| perform(fault, node, step)),
        Step::Where { holds, steps } => match node.run(holds, LIMIT)?.is_healthy() {
            true => steps.iter().try_for_each(|step| perform(fault, node, step)),
            false => Ok(()),
        },
        Step::Lab(step) => {
            let outside = || LabError::Input(format!("{} is not a host of a lab", node.name));
            let (lab, host) = node.lab()?.ok_or_else(outside)?;
            perform_in_lab(fault, &lab, host, step)
        }
    }
}

fn perform_in_lab(fault: &PlannedFault, lab: &Lab, host: &str, step: &LabStep) -> Result<(), LabError> {
    match step {
        LabStep::Apply(name) => Fault::of(name)?.in_lab()?.apply(lab, host),
        LabStep::Revert(name) => Fault::of(name)?.in_lab()?.revert(lab, host),
        LabStep::IsApplied(name) => is_applied(&Fault::of(name)?, lab, host, true),
        LabStep::IsReverted(name) => is_applied(&Fault::of(name)?, lab, host, false),
        LabStep::SetDiskFault(disk) => {
            let order = Order::SetFault(disk.clone());
            control::ask(&lab.socket(host), &order).map(drop).map_err(LabError::from)
        }
        LabStep::HasDiskFault(expected) => {
            let found = control::ask(&lab.socket(host), &Order::Status)?.fault;
            let other = || LabError::Input(format!("the fault of {host}'s disk is {found:?}"));
            (found == *expected).then_some(()).ok_or_else(other)
        }
        LabStep::DiskFails => disk_fails(lab, host),
        LabStep::RecoverDisk => lab.recover_disk(host),
        LabStep::KillDaemons => lab.end_daemons(host),
        LabStep::DaemonsAreDown => match lab.daemons(host)?.as_slice() {
            [] => Ok(()),
            left => Err(LabError::Input(format!("{host} still runs {} daemons", left.len()))),
        },
        LabStep::StartDaemons => lab.start_daemons(host),
        LabStep::IsHealthy => {
            let active = Journal::of_lab(lab)?.active()?;
            let is_only = active.iter().all(|other| other.planned.id == fault.id);
            if is_only { lab.wait_until_healthy() } else { Ok(()) }
        }
    }
}

fn is_applied(fault: &Fault, lab: &Lab, host: &str, expected: bool) -> Result<(), LabError> {
    if fault.in_lab()?.is_applied(lab, host)? == expected {
        return Ok(());
    }
    let wrong = if expected { "was not applied to" } else { "is still active at" };
    Err(LabError::Input(format!("{} {wrong} {host}", fault.name())))
}

/// Reads past all caches and past the brick's file system, which would shut itself down on an error.
fn disk_fails(lab: &Lab, host: &str) -> Result<(), LabError> {
    let device = lab.device(host).ok_or_else(|| LabError::Input(format!("{host} has no disk")))?;
    let input = format!("if=/dev/{device}");
    match lab.host_place(host)?.run(&["dd", &input, "of=/dev/null", "count=1", "iflag=direct"]) {
        Err(LabError::Program { reason, .. }) if reason.contains("Input/output error") => Ok(()),
        Err(other) => Err(other),
        Ok(_) => Err(LabError::Input(format!("the disk of {host} can still be read"))),
    }
}

/// The active faults of a lab, each with a host.
pub fn faults_of(lab: &Lab) -> Result<Vec<(&'static str, String)>, LabError> {
    let mut found = vec![];
    for fault in Journal::of_lab(lab)?.active()? {
        let is_left = |name: &&str| fault.phases.get(*name) != Some(&Phase::Verified);
        let nodes = fault.planned.nodes().into_iter().filter(is_left);
        found.extend(nodes.map(|node| (fault.planned.fault.name(), node.to_owned())));
    }
    Ok(found)
}

/// Applies a fault to a host of a lab and verifies it. It lasts until it is reverted, or until the lab is taken down.
pub fn apply_in_lab(lab: &Lab, fault: &Fault, host: &str) -> Result<(), LabError> {
    apply(&Journal::of_lab(lab)?, &plan_in_lab(lab, fault, host)?)
}

/// Reverts a fault of a lab's host and verifies it, also one that was never recorded.
pub fn revert_in_lab(lab: &Lab, fault: &Fault, host: &str) -> Result<(), LabError> {
    let is_it = |active: &ActiveFault| {
        active.planned.fault.name() == fault.name() && active.planned.nodes().contains(&host)
    };
    let outcomes = revert_some(&Journal::of_lab(lab)?, &is_it, 1)?;
    if outcomes.is_empty() {
        let planned = plan_in_lab(lab, fault, host)?;
        let run = |step: fn(&NodeSteps) -> &Step| {
            planned.steps.iter().try_for_each(|steps| perform(&planned, &steps.node, step(steps)))
        };
        run(|steps| &steps.revert)?;
        return run(|steps| &steps.verify_reverted);
    }
    failures(outcomes)
}

/// Reverts all active faults of a lab.
pub fn revert_all_in_lab(lab: &Lab) -> Result<(), LabError> {
    failures(revert_some(&Journal::of_lab(lab)?, &|_| true, 1)?)
}

fn failures(outcomes: Vec<RevertOutcome>) -> Result<(), LabError> {
    match outcomes.into_iter().find_map(|outcome| outcome.error) {
        None => Ok(()),
        Some(error) => Err(LabError::Input(error)),
    }
}

fn plan_in_lab(lab: &Lab, fault: &Fault, host: &str) -> Result<PlannedFault, LabError> {
    let all = Node::all_of(lab);
    let targets: Vec<Node> = all.iter().filter(|node| node.name == host).cloned().collect();
    lab.server(host)?;
    PlannedFault::new(fault, &targets, &all, lab.manifest.lab.seed, None)
}

impl RevertOutcome {
    fn of(fault: &ActiveFault, error: Option<LabError>) -> RevertOutcome {
        RevertOutcome {
            id: fault.planned.id.clone(),
            fault: fault.planned.fault.name().into(),
            nodes: fault.planned.nodes().into_iter().map(str::to_owned).collect(),
            error: error.map(|error| error.to_string()),
        }
    }

    fn unreadable(journal: &Journal, error: &LabError) -> RevertOutcome {
        RevertOutcome {
            id: journal.path().display().to_string(),
            fault: String::new(),
            nodes: vec![],
            error: Some(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{planned, shell};

    /// A fault that creates a file in a folder, and may fail halfway.
    fn creating(id: &str, folder: &Path, and_then: &str) -> PlannedFault {
        let file = folder.join(id).display().to_string();
        let mut fault = planned(id);
        fault.steps[0].apply = shell(&format!("touch {file}{and_then}"));
        fault.steps[0].verify_applied = shell(&format!("[ -e {file} ]"));
        fault.steps[0].revert =
            shell(&format!("echo {id} >> {}; rm -f {file}", folder.join("order").display()));
        fault.steps[0].verify_reverted = shell(&format!("[ ! -e {file} ]"));
        fault
    }

    #[test]
    fn faults_are_reverted_in_reverse_order_and_their_journal_is_removed() {
        let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let journal = Journal::create(folder.path()).unwrap();
        for id in ["a", "b", "c"] {
            apply(&journal, &creating(id, scratch.path(), "")).unwrap();
        }
        assert_eq!(revert(folder.path(), Selection::Id("b")).unwrap()[0].error, None);
        assert_eq!(active_faults(folder.path()).unwrap().len(), 2);
        let ids: Vec<String> =
            revert(folder.path(), Selection::Orphans).unwrap().into_iter().map(|f| f.id).collect();
        assert_eq!(ids, ["c", "a"]);
        assert_eq!(std::fs::read_to_string(scratch.path().join("order")).unwrap(), "b\nc\na\n");
        assert!(Journal::all(folder.path()).is_empty());
        assert!(
            revert(folder.path(), Selection::Id("b"))
                .unwrap_err()
                .to_string()
                .contains("no fault \"b\" is active")
        );
    }

    #[test]
    fn all_nodes_are_reverted_before_the_first_is_verified() {
        let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let journal = Journal::create(folder.path()).unwrap();
        // Like two servers of one file system, which is healthy when both are.
        let [mut one, mut other] = ["a", "b"].map(|id| creating(id, scratch.path(), "").steps.remove(0));
        let both = shell(&format!("cd {}; [ ! -e a ] && [ ! -e b ]", scratch.path().display()));
        (one.verify_reverted, other.verify_reverted) = (both.clone(), both);
        other.node.name = "there".into();
        let fault = PlannedFault { steps: vec![one, other], ..planned("a") };
        apply(&journal, &fault).unwrap();
        assert_eq!(revert_some(&journal, &|_| true, 1).unwrap()[0].error, None);
        assert_eq!(std::fs::read_to_string(scratch.path().join("order")).unwrap(), "b\na\n");
    }

    #[test]
    fn a_fault_that_fails_halfway_is_reverted() {
        let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let journal = Journal::create(folder.path()).unwrap();
        let error = apply(&journal, &creating("a", scratch.path(), "; echo no >&2; false")).unwrap_err();
        assert!(error.to_string().ends_with("failed: no; the changes so far are reverted"), "{error}");
        assert!(!scratch.path().join("a").exists() && journal.active().unwrap().is_empty());
    }

    #[test]
    fn a_fault_without_effect_is_an_error_and_one_that_cannot_be_reverted_stays_active() {
        let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let journal = Journal::create(folder.path()).unwrap();
        let mut vain = creating("a", scratch.path(), "");
        vain.steps[0].verify_applied = shell("false");
        vain.steps[0].verify_reverted = shell("echo still there >&2; false");
        let error = apply(&journal, &vain).unwrap_err().to_string();
        assert!(error.contains("full has no effect on here") && error.contains("still there"), "{error}");
        assert_eq!(active_faults(folder.path()).unwrap()[0].0.phases["here"], Phase::Reverted);
    }
}
