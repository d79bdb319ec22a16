//! The commands, a file each. A command parses its arguments, calls the crates, and prints.

pub mod cluster;
pub mod demo;
pub mod import;
pub mod manual;
pub mod metrics;
pub mod record;
pub mod show;
pub mod tables;
