//! What the tests of this stage share.

use super::deed::{Deed, Part, Step};
use super::model::Model;
use super::node::{Exec, Node};

/// This machine.
pub fn node() -> Node {
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

/// A deed of one part, in which nothing happens.
pub fn deed(id: &str) -> Deed {
    let nothing = || shell(":");
    let part = Part {
        node: node(),
        choices: vec![],
        apply: nothing(),
        verify_applied: nothing(),
        undo: nothing(),
        verify_undone: nothing(),
        tidy: None,
    };
    Deed { id: id.into(), model: Model::Full { leave: 1 }, seed: 1, ttl_seconds: 60, parts: vec![part] }
}

/// A script.
pub fn shell(script: &str) -> Step {
    Step::Shell(script.into())
}
