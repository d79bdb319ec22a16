//! Live tails: Arrow streams that a recorder appends to.
//! In: rows, as they are recorded. Out: messages that are checked before they are decoded. Always: a tail can be
//! read, and recovered, after a stop at any byte.

mod checks;
pub(crate) mod frame;
pub(crate) mod message;
pub(crate) mod reader;
pub(crate) mod writer;
