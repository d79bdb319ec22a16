//! The system call that a task is in.

use crate::model::Event;
use crate::tracepoints::Syscall;

#[derive(Debug)]
pub(in crate::mapping) struct Call {
    pub call: Syscall,
    pub args: [u64; 6],
    pub path: Option<Box<str>>,
    /// None if the call is not a request.
    pub admit: Option<Event>,
    /// Bytes that requests of lower layers cover so far.
    pub taken: u64,
}
