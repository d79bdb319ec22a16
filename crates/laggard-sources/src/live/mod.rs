//! The live host: what its kernel counts at one instant.
//!
//! In: `/proc` and sock_diag. Out: [`RawTable`](laggard_core::samples::RawTable)s with the rows of one instant,
//! in memory that is used again for the next. Always: a line or a source that fails is counted and told, and
//! costs no other line or source its rows.
//!
//! [`clock`] says when to sample, [`sampler`] reads every [`source`]; a source is a kept file ([`proc_file`])
//! and a parser that knows nothing of files.

pub mod account;
pub mod clock;
pub mod failure;
pub mod host;
pub mod netns;
pub mod proc_file;
pub mod sampler;
pub mod source;

pub mod diskstats;
pub mod net_dev;
pub mod pressure;
pub mod selection;
pub mod snmp;

pub mod connection;
pub mod prefix;
pub mod sock_diag;
pub mod sockets;
pub mod tcp_info;
pub mod traffic;

mod link;
mod roster;
mod words;
