//! A case: one fault on one set of nodes, and one repeat of it.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The name of the node set; `none` for the control.
    pub nodes: String,
    /// The nodes that get the fault.
    pub faulted: Vec<String>,
    /// None: the control, without a fault.
    pub fault: Option<String>,
    /// From 1 on.
    pub repeat: u32,
    /// All random choices of the case follow from it.
    pub seed: u64,
}

/// Replaces the name of a fault where there is none.
pub(crate) const CONTROL: &str = "control";

impl Case {
    /// The name of all its repeats: `a-DevFail/ONE`.
    pub fn row(&self) -> String {
        format!("{}/{}", self.fault.as_deref().unwrap_or(CONTROL), self.nodes)
    }

    pub fn name(&self) -> String {
        format!("{}/{}", self.row(), self.repeat)
    }
}
