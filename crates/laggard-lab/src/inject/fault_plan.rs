//! Plans a fault, unless it is refused.

use std::time::Duration;

use super::refusal;
use crate::faults::{self, Fault, PlannedFault};
use crate::machine::LabError;
use crate::nodes::Node;

/// Plans what a fault does on each target, and how it is reverted. Reads the targets and changes nothing; refuses nodes
/// that must not be changed. `all` are the nodes of the system: a partition needs the addresses of the others.
pub fn plan(
    fault: &Fault,
    targets: &[Node],
    all: &[Node],
    seed: u64,
    ttl: Duration,
) -> Result<PlannedFault, LabError> {
    faults::check(targets, Some(ttl))?;
    targets.iter().try_for_each(|node| refusal::check(fault, node))?;
    let planned = PlannedFault::new(fault, targets, all, seed, Some(ttl))?;
    planned.steps.iter().try_for_each(|steps| refusal::check_link(&steps.node, &steps.choices))?;
    Ok(planned)
}
