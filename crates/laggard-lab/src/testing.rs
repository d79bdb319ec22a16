//! Nodes and faults for tests.

use crate::faults::{Fault, NodeSteps, PlannedFault, Step};
use crate::nodes::{Exec, Node};

/// This machine.
pub(crate) fn node() -> Node {
    Node {
        name: "here".into(),
        role: "storage".into(),
        exec: Exec::Local,
        brick: None,
        addresses: vec![],
        marker: None,
        keep: "/nowhere".into(),
        stop: None,
        restart: None,
        ssh_config: None,
    }
}

pub(crate) fn full(leave: u64) -> Fault {
    Fault::parse("full", &[("leave".to_owned(), leave.to_string())].into()).unwrap()
}

/// A fault on one node, in which nothing happens.
pub(crate) fn planned(id: &str) -> PlannedFault {
    let nothing = || shell(":");
    let steps = NodeSteps {
        node: node(),
        choices: vec![],
        apply: nothing(),
        verify_applied: nothing(),
        revert: nothing(),
        verify_reverted: nothing(),
        clean_up: None,
    };
    PlannedFault { id: id.into(), fault: full(1), seed: 1, ttl_seconds: Some(60), steps: vec![steps] }
}

pub(crate) fn shell(script: &str) -> Step {
    Step::Shell(script.into())
}
