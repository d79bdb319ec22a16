//! Processes that load a server. Each carries the lab's mark and the name of its fault, and is found by them.

use crate::machine::LabError;
use crate::machine::place::Place;
use crate::machine::processes::{self, Process};
use crate::machine::waiting::wait_for;
use crate::setup::Lab;

/// Starts a program as a rogue process of a fault, and waits until it runs.
pub(super) fn start(
    fault: &str,
    lab: &Lab,
    server: &str,
    place: Place,
    words: &[&str],
) -> Result<(), LabError> {
    let before = all(fault, lab, server).len();
    let log = lab.folder.join("logs").join(format!("{server}.{fault}"));
    place.start(&[words, &[&lab.manifest.mark, &mark(fault, server)]].concat(), &log)?;
    let has_started = || (all(fault, lab, server).len() > before).then_some(());
    wait_for("the rogue process to start", 10, has_started)
}

/// Ends the rogue processes of a fault, and waits until they are gone.
pub(super) fn end(fault: &str, lab: &Lab, server: &str) -> Result<(), LabError> {
    wait_for("the rogue process to end", 10, || {
        let left = all(fault, lab, server);
        left.iter().for_each(|rogue| processes::kill_group(rogue.number));
        left.is_empty().then_some(())
    })
}

pub(super) fn is_any(fault: &str, lab: &Lab, server: &str) -> bool {
    !all(fault, lab, server).is_empty()
}

fn all(fault: &str, lab: &Lab, server: &str) -> Vec<Process> {
    let mut marked = processes::marked(&lab.manifest.mark);
    let mark = mark(fault, server);
    marked.retain(|process| process.words.contains(&mark) && leads(process));
    marked
}

/// A rogue process leads a group of its own; the programs that start it are still in the group of this process.
fn leads(process: &Process) -> bool {
    let starts = |word: &String| word == "nsenter" || word == "setsid";
    !process.words.first().is_some_and(starts)
}

fn mark(fault: &str, server: &str) -> String {
    format!("--rogue={fault}@{server}")
}
