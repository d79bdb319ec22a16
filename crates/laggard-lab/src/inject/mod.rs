//! Hurts nodes of a storage system on purpose, for a time, and heals them again whatever happens.
//! In: a [`Model`] of what goes wrong, [`Node`]s, a seed. Out: a [`Deed`], which is applied, verified, undone, verified.
//! Always: what undoes a deed is on disk before the first node is hit ([`Journal`]); a process of its own undoes it
//! when the controller dies or its time is over ([`guard`]); nothing is touched that does not carry the marker, and
//! nothing where somebody else has set things up ([`Refused`](crate::machine::LabError::Refused)).
//!
//! How a controller uses it:
//!
//! ```no_run
//! # use laggard_lab::{inject::{self, Model, Node, Session}, lab::Lab, machine::LabError};
//! # use std::{collections::BTreeMap, path::Path, process::Command, time::Duration};
//! # fn main() -> Result<(), LabError> {
//! let nodes = Node::all_of(&Lab::open("bench")?);
//! let model = Model::parse("partition", &BTreeMap::from([("mode".into(), "isolate".into())]))?;
//! let targets: Vec<Node> = nodes.iter().filter(|node| node.name == "oss1").cloned().collect();
//! // Reads the nodes and makes every choice; the same seed gives the same bytes of JSON.
//! let deed = inject::resolve(&model, &targets, &nodes, 42, Duration::from_secs(60))?;
//! // A journal, and a guard that watches it: from here on nothing outlives its time.
//! let mut guard = Command::new("laggard");
//! guard.arg("guard");
//! let mut session = Session::open(Path::new(inject::FOLDER), guard)?;
//! session.apply(&deed)?;
//! session.undo(&deed.id)?;
//! session.close()
//! # }
//! ```

mod apart;
mod deed;
mod doctor;
mod doing;
pub mod guard;
mod journal;
mod model;
mod models;
mod node;
mod refusal;
mod resolve;
mod running;
mod session;
#[cfg(test)]
mod testing;

pub use apart::Apart;
pub(crate) use apart::sweep;
pub use deed::{Choice, Deed, LabStep, Part, Step};
pub use doctor::{Availability, doctor};
pub use doing::{Finding, Which, standing, undo};
pub use journal::{Journal, Phase, Standing};
pub use model::{Cut, How, MODELS, Mechanism, Mode, Model, Side};
pub use node::{Exec, Node};
pub use resolve::resolve;
pub use running::Ran;
pub(crate) use running::quoted;
pub use session::{Session, refuse_orphans};

/// Where journals are. They outlive a boot, as what they tell of may.
pub const FOLDER: &str = "/var/lib/laggard/undo";

/// The file that makes something a target.
pub const MARKER: &str = ".laggard-target";

/// The longest that a fault may stand, unless somebody says otherwise.
pub const LONGEST: std::time::Duration = std::time::Duration::from_secs(20 * 60);
