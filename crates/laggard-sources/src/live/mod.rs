//! The live host: the counters of its kernel at one instant.
//!
//! In: `/proc` and sock_diag. Out: [`RawTable`](laggard_core::samples::RawTable)s with the rows of one instant, in
//! memory that is reused for the next. Always: a malformed line or failed source is counted and reported, and does not
//! affect other lines or sources.
//!
//! [`clock`] decides when to sample, [`sampler`] reads every source; a source is an open file (`proc_file`) and a
//! parser that does not read files. [`facts`] reads what rarely changes: devices, interfaces, listening ports.

mod account;
mod addresses;
pub mod clock;
mod failure;
pub mod host;
mod netns;
mod proc_file;
pub mod sampler;
pub mod source;

pub mod diskstats;
pub mod net_dev;
pub mod pressure;
pub mod selection;
pub mod snmp;

pub mod connection;
mod listeners;
pub mod prefix;
mod sock_diag;
mod sockets;
mod tcp_info;
pub mod traffic;

pub mod facts;
mod sysfs;

mod link;
mod recorded_names;
mod words;
