//! Processes that do harm. All of them carry the lab's mark and what they are there for, and are found again by it.

use super::Fault;
use crate::lab::Lab;
use crate::machine::LabError;
use crate::machine::place::{Place, wait_for};
use crate::machine::processes::{self, Process};

/// Starts a program as a rogue of a fault, and waits until it runs.
pub fn start(fault: Fault, lab: &Lab, server: &str, place: Place, words: &[&str]) -> Result<(), LabError> {
    let before = all(fault, lab, server).len();
    let sign = sign(fault, server);
    let log = lab.folder.join("logs").join(format!("{server}.{}", fault.as_str()));
    place.start(&[words, &[&lab.manifest.mark, &sign]].concat(), &log)?;
    let has_come = || (all(fault, lab, server).len() > before).then_some(());
    wait_for("the rogue process to start", 10, has_come)
}

/// Ends the rogues of a fault, and waits until they are gone.
pub fn end(fault: Fault, lab: &Lab, server: &str) -> Result<(), LabError> {
    wait_for("the rogue process to end", 10, || {
        let left = all(fault, lab, server);
        left.iter().for_each(|rogue| processes::kill_group(rogue.number));
        left.is_empty().then_some(())
    })
}

/// The rogues of a fault at a server.
pub fn all(fault: Fault, lab: &Lab, server: &str) -> Vec<Process> {
    let mut marked = processes::marked(&lab.manifest.mark);
    let sign = sign(fault, server);
    marked.retain(|process| process.words.contains(&sign) && leads(process));
    marked
}

/// A rogue leads a group of its own; the programs that start it are still in ours.
fn leads(process: &Process) -> bool {
    let starts = |word: &String| word == "nsenter" || word == "setsid";
    !process.words.first().is_some_and(starts)
}

fn sign(fault: Fault, server: &str) -> String {
    format!("--rogue={}@{server}", fault.as_str())
}
