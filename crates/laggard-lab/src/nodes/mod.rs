//! The nodes of a storage system: hosts of a lab, or machines reached in other ways.
//! In: a lab or a file that lists nodes. Out: scripts run on them, with a time limit. Always: a script ends with the
//! process that started it, and scripts that change a machine run one at a time.

mod node;
mod script;

pub use node::{Exec, Node, Role};
pub(crate) use script::quoted;

/// The folder of undo journals. It is kept over a reboot, like the faults that journals describe.
pub const FOLDER: &str = "/var/lib/laggard/undo";
