//! Imports from the bytes of files to the content of the trace file.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod block;
mod calls;
mod corpus;
mod daemons;
mod foreign;
mod making;
mod seeds;
mod support;
