//! Imports as a whole: from the bytes of files to what is in a trace file.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod block;
mod calls;
mod corpus;
mod daemons;
mod foreign;
mod making;
mod seeds;
mod support;
