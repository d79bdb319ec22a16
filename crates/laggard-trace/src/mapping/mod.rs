//! From what the kernel reports to requests of layers, as the specification of each tracepoint says.
//! In: [`crate::tracepoints::Tracepoint`]s in the order of time. Out: [`crate::model::Record`]s. Always: memory
//! grows with tasks, descriptors and open requests, never with the length of the trace.

mod aio;
mod bio;
mod block;
mod calls;
mod daemons;
mod descriptors;
mod fuse;
mod mapper;
mod net;
mod roles;
mod scribe;
mod tasks;
mod uring;

pub use mapper::Mapper;
pub use roles::{Role, Roles};
pub(crate) use scribe::Scribe;
