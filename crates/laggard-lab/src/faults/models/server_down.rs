//! A server whose daemons have all ended.

use crate::faults::model::{lab_fault, lab_of};
use crate::faults::steps::{Choice, LabStep, NodeSteps, Step};
use crate::machine::LabError;
use crate::nodes::Node;

lab_fault!(ServerDown, "server-down", "the daemons of a server have ended", [Lab], ServerDown, plan = plan);

fn plan(node: &Node) -> Result<NodeSteps, LabError> {
    let (lab, host) = lab_of::<ServerDown>(node)?;
    lab.server(host)?;
    Ok(NodeSteps {
        node: node.clone(),
        choices: vec![Choice::Mechanism("server-down".into())],
        apply: Step::Lab(LabStep::KillDaemons),
        verify_applied: Step::Lab(LabStep::DaemonsAreDown),
        revert: Step::Lab(LabStep::StartDaemons),
        verify_reverted: Step::Lab(LabStep::IsHealthy),
        clean_up: None,
    })
}
