//! What the lab asks of the machine it runs on: programs, processes, loop devices.
//! In: names and paths of a lab. Out: what is there now. Always: nothing is touched that does not carry the lab's
//! own mark, its identity in a command line or its folder in a path.

pub mod bounded;
mod error;
pub mod limits;
pub mod loops;
pub mod memory;
pub mod needs;
pub(crate) mod pen;
pub mod place;
pub mod processes;

pub use error::LabError;
