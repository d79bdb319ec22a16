//! Faults of the lab: something is slow, not broken.

use crate::disks::trouble::Trouble;
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

/// A disk that takes longer, since somebody whom the operating system does not see takes the rest of its time.
pub fn disk(factor: Option<f64>, bytes_per_second: Option<u64>, node: &Node) -> Result<Part, LabError> {
    let Some((lab, host)) = node.lab()? else {
        let name = &node.name;
        return Err(LabError::Input(format!("{name} is no host of a lab: only those have virtual disks")));
    };
    let model = lab.server(host)?.disk.unwrap_or_default();
    let left = match (factor, bytes_per_second) {
        (Some(factor), _) => 1.0 / factor,
        (None, Some(bytes)) => bytes as f64 / (model.bandwidth_mb_per_second * 1e6),
        (None, None) => 1.0,
    };
    if !(0.01..1.0).contains(&left) {
        let speed = model.bandwidth_mb_per_second;
        return Err(LabError::Input(format!(
            "the disk of {host} has {speed} MB/s, of which a hundredth must be left, and less than all"
        )));
    }
    // Few digits, which are the same again when they are read.
    let neighbour = libm::rint((1.0 - left) * 1000.0) / 1000.0;
    let trouble = Trouble { neighbour, ..Trouble::default() };
    let step = |step: LabStep| Step::Lab(step);
    Ok(Part {
        node: node.clone(),
        choices: vec![Choice::Mechanism("disk".into())],
        apply: step(LabStep::Afflict(trouble.clone())),
        verify_applied: step(LabStep::HasTrouble(trouble)),
        undo: step(LabStep::Afflict(Trouble::default())),
        verify_undone: step(LabStep::HasTrouble(Trouble::default())),
        tidy: None,
    })
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
