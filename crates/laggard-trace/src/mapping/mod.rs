//! Converts kernel events to requests of layers.
//! In: [`crate::tracepoints::Tracepoint`]s ordered by time. Out: [`crate::model::Record`]s. Always: memory grows
//! with tasks, descriptors and open requests, not with the length of the trace.

mod aio;
mod block;
mod calls;
mod daemons;
mod descriptors;
mod fuse;
mod mapper;
mod net;
mod open_requests;
mod record_builder;
mod roles;
mod tasks;
mod uring;

pub(crate) use mapper::Mapper;
pub(crate) use record_builder::RecordBuilder;
pub use roles::Roles;
