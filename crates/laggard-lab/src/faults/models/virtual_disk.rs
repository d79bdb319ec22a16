//! Faults of the virtual disk of a lab's host.

use crate::disks::fault::{DiskFault, Stalls};
use crate::faults::model::{FaultModel, lab_fault, lab_of};
use crate::faults::steps::{Choice, LabStep, NodeSteps, Step};
use crate::machine::LabError;
use crate::nodes::Node;

lab_fault!(
    DiskBusy,
    "disk-busy",
    "requests that the server does not see take most of its disk's time",
    [Lab],
    DiskBusy,
    plan = |node| steps::<DiskBusy>(node, DiskFault { neighbour: 0.6, ..DiskFault::default() })
);
lab_fault!(
    DiskStalls,
    "stalls",
    "the disk stalls for half a second, every two seconds on average",
    [Lab],
    DiskBusy,
    plan = |node| {
        let stalls = Some(Stalls { every_ms: 2_000, lasting_ms: 500 });
        steps::<DiskStalls>(node, DiskFault { stalls, ..DiskFault::default() })
    }
);
lab_fault!(
    LostDisk,
    "lost-disk",
    "every request to the disk fails",
    [Lab],
    LostAttachment,
    plan = lost_disk::<LostDisk>
);

/// A disk that fails is given up by its file system: it is mounted again afterwards, and daemons that ended are started.
pub(super) fn lost_disk<F: FaultModel>(node: &Node) -> Result<NodeSteps, LabError> {
    let disk = steps::<F>(node, DiskFault { disconnected: true, ..DiskFault::default() })?;
    let several = |first: Step, then: &[LabStep]| {
        Step::Several([first].into_iter().chain(then.iter().cloned().map(Step::Lab)).collect())
    };
    Ok(NodeSteps {
        verify_applied: Step::Lab(LabStep::DiskFails),
        revert: several(disk.revert, &[LabStep::RecoverDisk, LabStep::StartDaemons]),
        verify_reverted: several(disk.verify_reverted, &[LabStep::IsHealthy]),
        ..disk
    })
}

/// The steps of a fault that the virtual disk itself simulates.
pub(super) fn steps<F: FaultModel>(node: &Node, fault: DiskFault) -> Result<NodeSteps, LabError> {
    let (lab, host) = lab_of::<F>(node)?;
    lab.server(host)?;
    Ok(NodeSteps {
        node: node.clone(),
        choices: vec![Choice::Mechanism("disk".into())],
        apply: Step::Lab(LabStep::SetDiskFault(fault.clone())),
        verify_applied: Step::Lab(LabStep::HasDiskFault(fault)),
        revert: Step::Lab(LabStep::SetDiskFault(DiskFault::default())),
        verify_reverted: Step::Lab(LabStep::HasDiskFault(DiskFault::default())),
        clean_up: None,
    })
}
