//! Faults of the lab: something is slow, not broken.

use crate::faults::Fault;
use crate::inject::deed::{Choice, LabStep, Part, Step};
use crate::inject::node::Node;
use crate::machine::LabError;

/// A fault of the lab, by its name.
pub fn part(fault: &str, node: &Node) -> Result<Part, LabError> {
    let fault = Fault::named(fault)?;
    let Some((lab, host)) = node.lab()? else {
        let (fault, name) = (fault.as_str(), &node.name);
        return Err(LabError::Input(format!("{fault} is for hosts of a lab, which {name} is not")));
    };
    lab.server(host)?;
    Ok(lab_fault(fault, node, LabStep::IsThere(fault.as_str().into())))
}

/// A part that the lab applies and heals.
pub fn lab_fault(fault: Fault, node: &Node, verify_applied: LabStep) -> Part {
    let name = || fault.as_str().to_owned();
    Part {
        node: node.clone(),
        choices: vec![Choice::Mechanism(name())],
        apply: Step::Lab(LabStep::Apply(name())),
        verify_applied: Step::Lab(verify_applied),
        undo: Step::Lab(LabStep::Heal(name())),
        verify_undone: Step::Lab(LabStep::IsGone(name())),
        tidy: None,
    }
}
