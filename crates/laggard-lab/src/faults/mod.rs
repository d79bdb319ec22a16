//! All faults, as values that can be applied, verified, reverted and verified again.
//! In: a [`Fault`] from the registry, [`Node`](crate::nodes::Node)s and a seed. Out: a [`PlannedFault`] with the steps of
//! each node. Always: planning changes nothing; a revert may run repeatedly, and where nothing was applied; nothing of a
//! fault outlives its lab.
//!
//! A new fault is one file in `models/` and one line in `registry.rs`.

mod model;
mod models;
mod parameters;
mod planned;
mod registry;
mod steps;

pub(crate) use model::{Area, Need};
pub use models::inconsist::How;
pub use planned::PlannedFault;
pub(crate) use planned::check;
pub use registry::{FAULTS, Fault, FaultEntry};
pub use steps::{Choice, LabStep, NodeSteps, Step};
