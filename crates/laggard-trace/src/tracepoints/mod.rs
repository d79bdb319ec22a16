//! Events that the kernel reports, independent of whether they come from the text of tracefs or from its binary
//! buffers.
//! In: nothing; readers create [`Tracepoint`]s. Always: a reader creates one for each record that it understands
//! and skips the others.

mod block;
mod comm;
mod syscall;
mod tracepoint;

pub(crate) use block::{BlockFields, BlockStep, Device, Rwbs};
pub(crate) use comm::Comm;
pub(crate) use syscall::Syscall;
pub(crate) use tracepoint::{Descriptor, Payload, Tracepoint};
