//! Injects faults into nodes of a storage system for a limited time; they are always reverted.
//! In: a [`Fault`], [`Node`]s and a seed. Out: a [`PlannedFault`], which is applied, verified, reverted and verified.
//! Always: only nodes with the marker are changed, and nothing that other programs have configured is replaced
//! ([`Refused`](crate::machine::LabError::Refused)); a session has a guard before its first fault.
//!
//! How a controller uses it:
//!
//! ```no_run
//! # use laggard_lab::{inject::{self, Fault, Node, Session}, machine::LabError, setup::Lab};
//! # use std::{collections::BTreeMap, path::Path, process::Command, time::Duration};
//! # fn main() -> Result<(), LabError> {
//! let nodes = Node::all_of(&Lab::open("bench")?);
//! let fault = Fault::parse("partition", &BTreeMap::from([("mode".into(), "isolate".into())]))?;
//! let targets: Vec<Node> = nodes.iter().filter(|node| node.name == "oss1").cloned().collect();
//! // Reads the nodes and makes every choice; the same seed gives the same bytes of JSON.
//! let planned = inject::plan(&fault, &targets, &nodes, 42, Duration::from_secs(60))?;
//! // A journal and its guard: from here on no fault outlives its time.
//! let mut guard = Command::new("laggard");
//! guard.arg("guard");
//! let mut session = Session::open(Path::new(inject::FOLDER), guard)?;
//! session.apply(&planned)?;
//! session.revert(&planned.id)?;
//! session.close()
//! # }
//! ```

mod doctor;
mod fault_plan;
mod refusal;
mod session;

pub use crate::faults::{Choice, Fault, PlannedFault};
pub use crate::machine::MARKER;
pub(crate) use crate::nodes::quoted;
pub use crate::nodes::{Exec, FOLDER, Node};
pub use doctor::{Availability, doctor};
pub use fault_plan::plan;
pub use session::{Session, refuse_orphans};

/// The longest time of a fault, unless another one is given.
pub const LONGEST: std::time::Duration = std::time::Duration::from_secs(20 * 60);
