//! The machine that a lab runs on: programs, processes, loop devices, control groups.
//! In: names and paths of a lab. Out: their present state. Always: only processes, devices and files that carry the
//! lab's own mark are touched, in a command line or in a path.

pub(crate) mod bounded;
pub(crate) mod cgroup;
mod error;
pub(crate) mod limits;
pub(crate) mod loops;
pub mod needs;
pub(crate) mod place;
pub(crate) mod processes;
pub(crate) mod snapshot;
pub(crate) mod waiting;

pub use error::LabError;

/// The file that makes a node a target of faults.
pub const MARKER: &str = ".laggard-target";
