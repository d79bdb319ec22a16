//! Readers of other tools' traces, one folder per format.
//! In: the content of a file. Out: [`Tracepoint`](crate::tracepoints::Tracepoint)s of tools that report kernel events,
//! [`Interval`]s of tools that report whole requests. Always: a line or record that is not understood is counted with
//! its position, and reading continues.

pub(crate) mod blktrace;
pub(crate) mod chrome;
pub(crate) mod darshan;
pub(crate) mod fio;
pub(crate) mod ftrace;
pub(crate) mod paper;
pub(crate) mod recorder;
pub(crate) mod strace;

mod number;
mod read_counts;
mod registry;
mod request_sink;

pub(crate) use read_counts::ReadCounts;
pub use registry::Format;
pub(crate) use request_sink::{Interval, RequestSink};
