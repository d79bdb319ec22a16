//! What the kernel reports: [`Tracepoint`]s, as both the text of tracefs and its binary buffers tell them.
//!
//! A reader makes one for every record that it knows, and leaves out the others.

mod block;
mod comm;
mod syscall;
mod tracepoint;

pub use block::{BlockFields, BlockStep, Device, Rwbs};
pub use comm::Comm;
pub use syscall::Syscall;
pub use tracepoint::{Descriptor, Payload, Tracepoint};
