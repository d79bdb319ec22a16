//! Converts kernel events to requests of layers.
//! In: [`crate::tracepoints::Tracepoint`]s ordered by time. Out: [`crate::model::Record`]s. Always: memory grows
//! with tasks, descriptors and open requests, not with the length of the trace.

mod aio;
mod block;
mod calls;
mod daemons;
mod fuse;
mod mapper;
mod net;
mod state;
mod syscalls;
mod uring;

pub(crate) use mapper::Mapper;
pub(crate) use state::RecordBuilder;
pub use state::Roles;
