//! A fault planned for nodes: every choice is made, and nothing is changed yet.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::model::PlanContext;
use super::registry::Fault;
use super::steps::NodeSteps;
use crate::machine::LabError;
use crate::nodes::Node;

/// A fault that is ready to be applied. The same fault, nodes, state and seed give the same bytes of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedFault {
    /// Eight hexadecimal digits, part of the name of everything it creates.
    pub id: String,
    pub fault: Fault,
    pub seed: u64,
    /// How long it may last; none: until it is reverted.
    pub ttl_seconds: Option<u64>,
    /// The steps of each node, in order. They are reverted from the last to the first.
    pub steps: Vec<NodeSteps>,
}

const LONGEST_SECONDS: u64 = 24 * 3600;

impl PlannedFault {
    /// Plans a fault on `targets`. Reads the targets and changes nothing. `all` are the nodes of the system: a partition
    /// needs the addresses of the others.
    pub(crate) fn new(
        fault: &Fault,
        targets: &[Node],
        all: &[Node],
        seed: u64,
        ttl: Option<Duration>,
    ) -> Result<PlannedFault, LabError> {
        check(targets, ttl)?;
        let ttl_seconds = ttl.map(|ttl| ttl.as_secs());
        let id = id(fault, targets, seed, ttl_seconds)?;
        let aim = PlanContext { id: &id, targets, all, seed, ttl_seconds };
        let steps = targets.iter().map(|node| fault.plan(node, &aim)).collect::<Result<_, _>>()?;
        Ok(PlannedFault { id, fault: fault.clone(), seed, ttl_seconds, steps })
    }

    /// How long it may last; none: until it is reverted.
    pub fn ttl(&self) -> Option<Duration> {
        self.ttl_seconds.map(Duration::from_secs)
    }

    /// The names of its nodes.
    pub fn nodes(&self) -> Vec<&str> {
        self.steps.iter().map(|steps| steps.node.name.as_str()).collect()
    }
}

/// Rejects targets and durations that no fault can have.
pub(crate) fn check(targets: &[Node], ttl: Option<Duration>) -> Result<(), LabError> {
    if targets.is_empty() {
        return Err(LabError::Input("no node is named: a fault needs at least one".into()));
    }
    let is_repeated =
        |(place, node): &(usize, &Node)| targets.iter().skip(place + 1).any(|other| other.name == node.name);
    if let Some((_, node)) = targets.iter().enumerate().find(is_repeated) {
        return Err(LabError::Input(format!("{} is named twice", node.name)));
    }
    match ttl {
        Some(ttl) if !(1..=LONGEST_SECONDS).contains(&ttl.as_secs()) => {
            Err(LabError::Input("a fault lasts between a second and a day".into()))
        }
        _ => Ok(()),
    }
}

fn id(fault: &Fault, targets: &[Node], seed: u64, ttl_seconds: Option<u64>) -> Result<String, LabError> {
    let names: Vec<&str> = targets.iter().map(|node| node.name.as_str()).collect();
    let text = serde_json::to_string(&(fault, names, seed, ttl_seconds));
    let text = text.map_err(|error| LabError::Input(error.to_string()))?;
    Ok(format!("{:08x}", crc32fast::hash(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{full, node};

    #[test]
    fn an_id_follows_from_the_fault_and_its_nodes() {
        let of = |fault: &Fault, seed| id(fault, &[node()], seed, Some(60)).unwrap();
        assert_eq!(of(&full(1), 1), of(&full(1), 1));
        assert_ne!(of(&full(1), 1), of(&full(1), 2));
        assert_ne!(of(&full(1), 1), of(&full(2), 1));
    }

    #[test]
    fn a_fault_has_a_target_and_an_end() {
        let error = |targets: &[Node], seconds| {
            let ttl = Some(Duration::from_secs(seconds));
            PlannedFault::new(&full(1), targets, targets, 1, ttl).unwrap_err().to_string()
        };
        assert!(error(&[], 60).contains("needs at least one"));
        assert_eq!(error(&[node(), node()], 60), "here is named twice");
        assert!(error(&[node()], 0).contains("between a second and a day"));
        assert!(error(&[node()], 60).contains("has no brick"));
    }
}
