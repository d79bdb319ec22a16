//! The commands, a file each. A command parses its arguments, calls the crates, and prints.

pub mod campaign;
pub mod cluster;
pub mod completions;
pub mod demo;
pub mod diagnose;
pub mod eval;
pub mod feedback;
pub mod import;
pub mod inject;
pub mod lab;
pub mod logs;
pub mod man;
pub mod metrics;
pub mod probe;
pub mod rank;
pub mod record;
pub mod show;
pub mod simulate;
pub mod tables;
pub mod trace;
pub mod train;
pub mod work;
