//! Block events of blktrace: its binary records, and the text that blkparse prints.
//! In: bytes. Out: [`crate::tracepoints::Tracepoint`]s of the block layer, in the order of the file.

pub(crate) mod binary;
pub(crate) mod text;

mod action;
